#include "sim/page/page.h"

#include <algorithm>
#include <stdexcept>

#include "sim/page/page_parts.h"

namespace syncline {

const std::string page_begin = "<!doctype html>\n<!-- syncline report -->\n";

namespace {

constexpr std::size_t most_page_bytes = 1'900'000;

struct Filling {
  std::string place;  // "{{css}}"
  std::string text;
};

// Finds places in the template only, never in text that was filled in.
std::string filled(const std::string& pattern, const std::vector<Filling>& fillings) {
  std::string page;
  std::size_t done = 0;
  for (const Filling& filling : fillings) {  // in the order of the template
    const std::size_t at = pattern.find(filling.place, done);
    page += pattern.substr(done, at - done) + filling.text;
    done = at + filling.place.size();
  }
  return page + pattern.substr(done);
}

std::string noscript_of(const std::vector<Drawing>& figures) {
  std::string text;
  for (const Drawing& figure : figures)
    if (text.size() + figure.svg.size() < 100'000)
      text += "<figure>" + figure.svg.substr(figure.svg.find("<svg")) + "</figure>\n";
  return text;
}

}  // namespace

void require_page() {
  if (page_parts::chart_js.empty())
    throw std::runtime_error(
        "--html: this program was built without Chart.js: install libjs-chart.js and build again "
        "(--svg and --md need no Chart.js)");
  day_of_page();
}

std::string page_with(const std::string& data, const std::string& noscript,
                      const std::string& script) {
  require_page();
  return filled(page_begin + page_parts::html, {{"{{css}}", page_parts::css},
                                                {"{{noscript}}", noscript},
                                                {"{{data}}", data},
                                                {"{{chart.js}}", page_parts::chart_js},
                                                {"{{js}}", script + page_parts::js}});
}

std::string page_of(const PageContent& content) {
  const std::string noscript = noscript_of(drawings_of(content));
  const std::size_t others = page_parts::chart_js.size() + page_parts::css.size() +
                             page_parts::js.size() + noscript.size();
  return page_with(page_data(content, most_page_bytes - std::min(others, most_page_bytes)),
                   noscript);
}

}  // namespace syncline
