"""docs/: the pages that need a framework (test_docs.py has the others)."""

import pytest
from docs_support import PAGES_OF_FRAMEWORKS, name_of, try_page


@pytest.mark.parametrize("page", PAGES_OF_FRAMEWORKS, ids=name_of)
def test_what_a_page_says_works(page, sample_corpus, tmp_path):
    try_page(page, sample_corpus, tmp_path)
