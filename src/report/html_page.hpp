// An HtmlPage says what a report shows; html_page() makes one self-contained HTML text of it.
//
// The text needs no network, no font of its own and no script. It is readable on a phone, light and
// dark, and on paper, where folded sections are open. It is well-formed XML too. All texts are
// escaped. Pure values and functions; any thread. Equal pages give equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "report/chart.hpp"

namespace xtts::report {

enum class HtmlTone : std::uint8_t { kPlain, kGood, kWarn, kBad, kUnknown };

// A status: a sign and a word in the tone's colour. kPlain shows nothing.
struct HtmlStatus {
  HtmlTone tone = HtmlTone::kPlain;
  std::string word = {};  // "fail"
};

struct HtmlFact {
  std::string name = {};
  std::string value = {};
  std::string note = {};  // how it is known; empty: nothing is to say
};
struct HtmlFacts {
  std::vector<HtmlFact> facts = {};
};

struct HtmlText {
  std::string text = {};
};

// One thing to do, or one thing that was found.
struct HtmlItem {
  HtmlStatus status = {};
  std::string text = {};
  std::string place = {};  // "train.py:120"; empty: none
  std::string gain = {};   // "1.5 to 3 times as fast"; empty: none
  std::string note = {};   // small, below
};
struct HtmlList {
  bool is_numbered = false;
  std::vector<HtmlItem> items = {};
};

// A change of a file, shown as a diff: the old line, the new one, and why.
struct HtmlChange {
  std::string key = {};
  std::string before = {};  // empty: there was none
  std::string after = {};
  std::string reason = {};
};
struct HtmlChanges {
  std::vector<HtmlChange> changes = {};
};

using HtmlBlock = std::variant<HtmlText, HtmlFacts, HtmlList, HtmlChanges, Chart>;

struct HtmlSection {
  std::string title = {};
  HtmlStatus status = {};
  std::string summary = {};  // shown even where the section is folded
  bool is_folded = false;
  std::vector<HtmlBlock> blocks = {};
};

struct HtmlPage {
  std::string title = {};
  std::string aside = {};  // below the title: the date
  HtmlStatus status = {};
  std::string verdict = {};                // the answer, in one sentence
  std::vector<HtmlStatus> counts = {};     // "2 fail", "5 pass"
  std::vector<Chart> charts = {};          // on which the verdict rests
  std::vector<HtmlSection> sections = {};  // in their order
  std::string footer = {};
};

[[nodiscard]] std::string html_page(const HtmlPage& page);

}  // namespace xtts::report
