"""The doctor's report as one HTML file (Jinja2): page.page_of. Pictures are SVG."""
