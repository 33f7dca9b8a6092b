#include "report/html_page.hpp"

#include <string_view>

#include "report/html_chart.hpp"
#include "report/html_style.hpp"
#include "report/html_text.hpp"

namespace xtts::report {
namespace {

// The browser loads nothing and runs nothing, whatever a text contains.
constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<meta name="referrer" content="no-referrer"/>
)";

std::string_view tone_class(HtmlTone tone) {
  switch (tone) {
    case HtmlTone::kGood:
      return "tone-good";
    case HtmlTone::kWarn:
      return "tone-warn";
    case HtmlTone::kBad:
      return "tone-bad";
    case HtmlTone::kUnknown:
      return "tone-unknown";
    case HtmlTone::kPlain:
      break;
  }
  return "tone-plain";
}

std::string_view sign_of(HtmlTone tone) {
  switch (tone) {
    case HtmlTone::kGood:
      return "✓ ";
    case HtmlTone::kWarn:
      return "! ";
    case HtmlTone::kBad:
      return "✗ ";
    case HtmlTone::kUnknown:
      return "? ";
    case HtmlTone::kPlain:
      break;
  }
  return "";
}

std::string status_html(const HtmlStatus& status) {
  if (status.word.empty()) return {};
  return html_element("span", std::string(sign_of(status.tone)) + status.word,
                      "status " + std::string(tone_class(status.tone)));
}

// Gives each chart of a page its own id.
class PageWriter {
 public:
  std::string chart(const Chart& chart) {
    return html_chart(chart, "chart-" + std::to_string(++chart_count_));
  }

  std::string charts(const std::vector<Chart>& charts) {
    if (charts.empty()) return {};
    std::string html = "<div class=\"charts\">\n";
    for (const Chart& one : charts) html += chart(one);
    return html + "</div>\n";
  }

  std::string block(const HtmlText& text) { return html_element("p", text.text) + "\n"; }

  std::string block(const HtmlFacts& facts) {
    if (facts.facts.empty()) return {};
    std::string html =
        "<table class=\"facts\"><thead><tr><th scope=\"col\">what</th><th scope=\"col\">value</th>"
        "<th scope=\"col\">how it is known</th></tr></thead><tbody>\n";
    for (const HtmlFact& fact : facts.facts) {
      html += "<tr><th scope=\"row\">" + escape_html(fact.name) + "</th>" +
              html_element("td", fact.value, "value") + html_element("td", fact.note, "note") +
              "</tr>\n";
    }
    return html + "</tbody></table>\n";
  }

  std::string block(const HtmlList& list) {
    if (list.items.empty()) return {};
    const std::string tag = list.is_numbered ? "ol" : "ul";
    std::string html =
        "<" + tag + " class=\"items" + (list.is_numbered ? " numbered" : "") + "\">\n";
    for (const HtmlItem& item : list.items) {
      html += "<li><p>" + status_html(item.status);
      if (!item.status.word.empty()) html += ' ';
      if (!item.place.empty()) html += html_element("code", item.place) + ": ";
      html += escape_html(item.text) + "</p>";
      if (!item.gain.empty() || !item.note.empty()) {
        html += "<p class=\"note\">" + html_element("span", item.gain, "gain") +
                (item.gain.empty() || item.note.empty() ? "" : ", ") + escape_html(item.note) +
                "</p>";
      }
      html += "</li>\n";
    }
    return html + "</" + tag + ">\n";
  }

  std::string block(const HtmlChanges& changes) {
    if (changes.changes.empty()) return {};
    std::string html =
        "<table class=\"changes\"><thead><tr><th scope=\"col\">key</th><th "
        "scope=\"col\">change</th>"
        "<th scope=\"col\">why</th></tr></thead><tbody>\n";
    for (const HtmlChange& change : changes.changes) {
      html += "<tr><th scope=\"row\" class=\"code\">" + escape_html(change.key) +
              "</th><td class=\"diff code\">";
      if (!change.before.empty()) html += html_element("del", "− " + change.before);
      html += html_element("ins", "+ " + change.after) + "</td>" +
              html_element("td", change.reason) + "</tr>\n";
    }
    return html + "</tbody></table>\n";
  }

  std::string block(const Chart& one) { return chart(one); }

  // Charts that follow each other stand beside each other where there is room.
  std::string blocks(const std::vector<HtmlBlock>& all) {
    std::string html;
    bool is_in_charts = false;
    for (const HtmlBlock& one : all) {
      const bool is_chart = std::holds_alternative<Chart>(one);
      if (is_chart && !is_in_charts) html += "<div class=\"charts\">\n";
      if (!is_chart && is_in_charts) html += "</div>\n";
      is_in_charts = is_chart;
      html += std::visit([this](const auto& content) { return block(content); }, one);
    }
    return is_in_charts ? html + "</div>\n" : html;
  }

  std::string section(const HtmlSection& section) {
    if (!section.is_folded) {
      std::string html = "<section>\n" + html_element("h2", section.title) + "\n";
      if (!section.summary.empty())
        html += "<p>" + status_html(section.status) + " " + escape_html(section.summary) + "</p>\n";
      return html + blocks(section.blocks) + "</section>\n";
    }
    return "<details class=\"folded\"><summary>" + status_html(section.status) +
           "<span class=\"head\">" + html_element("h3", section.title) +
           html_element("span", section.summary, "about") + "</span></summary>\n" +
           "<div class=\"inside\">\n" + blocks(section.blocks) + "</div></details>\n";
  }

 private:
  std::size_t chart_count_ = 0;
};

std::string verdict_html(const HtmlPage& page) {
  std::string html = "<div class=\"verdict " + std::string(tone_class(page.status.tone)) + "\">" +
                     status_html(page.status) + html_element("p", page.verdict) + "</div>\n";
  if (page.counts.empty()) return html;
  html += "<ul class=\"counts\">";
  for (const HtmlStatus& count : page.counts) html += "<li>" + status_html(count) + "</li>";
  return html + "</ul>\n";
}

}  // namespace

std::string html_page(const HtmlPage& page) {
  PageWriter writer;
  std::string html(kHead);
  html += html_element("title", page.title) + "\n<style>" + std::string(html_style()) +
          "</style>\n</head>\n<body>\n<header>\n" + html_element("h1", page.title) + "\n";
  if (!page.aside.empty()) html += html_element("p", page.aside, "aside") + "\n";
  html += verdict_html(page) + "</header>\n<main>\n" + writer.charts(page.charts);
  for (const HtmlSection& section : page.sections) html += writer.section(section);
  html += "</main>\n";
  if (!page.footer.empty()) html += html_element("footer", page.footer) + "\n";
  return html + "</body>\n</html>\n";
}

}  // namespace xtts::report
