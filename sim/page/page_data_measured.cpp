// The page of `explain --measured`.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "sim/page/page_json.h"
#include "sim/page/page_parts.h"
#include "sim/report/readable.h"

namespace syncline {

std::string page_of(const MeasuredPage& page, PageJson measured) {
  PageJson provenance = PageJson::array();
  for (const auto& [name, value] : page.options)
    provenance.push_back({name, {value.empty() ? "-" : printable(value)}});
  const PageJson none = PageJson::array();
  const PageJson data{{"cells", 0},
                      {"simulations", 0},
                      {"lead", page.lead},
                      {"subject", printable(page.subject)},
                      {"made",
                       {{"by", fmt::format("{}; {}", page.made_by, day_of_page())},
                        {"command", printable(page.command)}}},
                      {"warnings", page.notes},
                      {"cases", none},
                      {"maps", none},
                      {"words", words_of_page()},
                      {"measured", std::move(measured)},
                      {"provenance", std::move(provenance)},
                      {"timelines", none}};
  return page_with(as_script_data(data), "<pre>" + in_xml(page.text) + "</pre>\n",
                   page_parts::measured_js);
}

}  // namespace syncline
