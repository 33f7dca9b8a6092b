"""check_messages.py on a small project, whose messages are right or have faults that it must find."""

import tempfile
import unittest
from pathlib import Path

import check_messages
import cpp_texts
import python_texts

COMMANDS = """
Command::Command() { command.add_flag("--json", json, "One document"); }
"""
BUILD = """
Command command(app, context, "build", "Make a cache");
command.option("--memory", memory, "SIZE", "At most this much").threads(count);
"""


class Project:
    """A project with one message."""

    def __init__(self, folder, source, name="src/room/file.cpp"):
        self.folder = Path(folder)
        for path, text in {"cli/command.cpp": COMMANDS, "cli/build_command.cpp": BUILD, name: source}.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text, encoding="utf-8")

    def check(self):
        return check_messages.check(self.folder)


def texts(read, source):
    return [text for _, text, _ in read(source)]


class TextsOfCpp(unittest.TestCase):
    def check(self, source, *expected):
        self.assertEqual(texts(cpp_texts.texts_of, source), list(expected))

    def test_literals_are_joined_across_lines_and_comments(self):
        self.check(
            'Status(StatusCode::kX, "no clip" /* "none" */\n  " here: " // "why"\n + path.string());',
            "no clip here: {path}",
        )

    def test_raw_strings_and_characters(self):
        self.check("""f(R"(a "b" c)" + std::string(1, ')'), '"', "d");""", 'a "b" c)', '"', "d")

    def test_a_choice_shows_both_texts(self):
        self.check('return "there " + (n == 1 ? "is" : "are") + " " + std::to_string(n);', "there {is|are} {n}")

    def test_options_are_shown_as_flags(self):
        self.check(
            'x = "give " + option_on("overwrite") + " or " + option("memory", "2G");', "give --overwrite or --memory 2G"
        )

    def test_each_call_has_its_own_texts(self):
        self.check('f(a ? "one" : "two", g("three" + h("four")));', "one", "two", "three{}", "four")

    def test_checks_of_the_compiler_and_docstrings_are_left_out(self):
        self.check('static_assert(a, "no"); module.def("name", [] { throw f("yes"); }, "doc");', "yes")

    def test_a_help_has_its_flag(self):
        self.assertIn(("--memory", "At most this much", False), cpp_texts.texts_of(BUILD))


class TextsOfPython(unittest.TestCase):
    def check(self, source, *expected):
        self.assertEqual(texts(python_texts.texts_of, source), list(expected))

    def test_f_strings_and_sums(self):
        self.check('raise ValueError(f"no {what.name}" + " in " + str(path))', "no {name} in {path}")

    def test_docstrings_and_annotations_are_left_out(self):
        self.check('def f(a: "A") -> "B":\n    """Does this."""\n    return "c"', "c")


class Rules(unittest.TestCase):
    def problems(self, source, **how):
        with tempfile.TemporaryDirectory() as folder:
            return Project(folder, source, **how).check()

    def test_a_good_project_has_no_problems(self):
        self.assertEqual(self.problems('Status(StatusCode::kX, "no room: give --memory 2G");'), [])

    def test_faults_of_messages_are_found(self):
        for message, fault in {
            "whoever asks gets this": "'whoever'",
            "a remedy for this": "'remedy'",
            "the code is kMismatch": "'kMismatch'",
            "two  spaces here": "two spaces",
            "a word " * 20: "40 words",
            "run xtts-precompute bild DATA": "no command 'xtts-precompute bild'",
            "run xtts-precompute build --speed 2": "'xtts-precompute build' has no flag --speed",
            "'build DATA CACHE' makes one": "'build' cannot be pasted",
            "give --memroy 2G": "no command has the flag --memroy",
        }.items():
            with self.subTest(message):
                self.assertIn(fault, "\n".join(self.problems(f'f("{message}");')))
                problems = self.problems(f'raise ValueError("{message}")', name="src/python/file.py")
                self.assertIn(fault, "\n".join(problems))

    def test_names_of_computed_parts_are_free(self):
        self.assertEqual(self.problems('f("this mends it: " + remedy);'), [])


if __name__ == "__main__":
    unittest.main()
