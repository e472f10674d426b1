#include "sim/catalogue/devices.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <stdexcept>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

// True for a date such as 2026-11-25.
bool is_date(const std::string& text) {
  const std::vector<std::string> parts = split(text, '-');
  constexpr std::size_t digits[] = {4, 2, 2};
  if (parts.size() != 3)
    return false;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].size() != digits[i] ||
        !std::ranges::all_of(parts[i], [](char c) { return c >= '0' && c <= '9'; }))
      return false;
  return true;
}

void check(const Device& device) {
  double least = 0;  // arithmetic is in the order of fewer bits
  for (const auto& [arithmetic, peak] : device.peak_flops) {
    if (peak < least)
      refuse("{} = {}: allowed is the peak of more bits, {}, or more", name_of(arithmetic),
             number_text(peak), number_text(least));
    least = peak;
  }
  if (device.peak_flops.empty())
    refuse("a device without any peak: allowed is one or more");
  if (device.stream_Bps && *device.stream_Bps > device.memory_Bps)
    refuse("stream_Bps = {}: allowed is the rate of the memory, {}, or less",
           number_text(*device.stream_Bps), number_text(device.memory_Bps));
  if (device.price && (!is_date(device.price_date) || device.price_source.empty()))
    refuse("a price needs price_date, as in 2026-11-25, and price_source");
}

}  // namespace

std::vector<Device> read_devices(const std::string& path) {
  const Csv csv = read_csv(path);
  std::vector<Device> devices;
  std::set<std::string> names;
  csv.for_each_row([&](const Csv::Row& row) {
    const auto text = [&](const std::string& column) { return row.fields[csv.column(column)]; };
    const auto number = [&](const std::string& column, double least, double most) {
      return checked_number({.name = column, .minimum = least, .maximum = most}, text(column));
    };
    const auto maybe = [&](const std::string& column, double least, double most) {
      return text(column).empty() ? std::nullopt : std::optional(number(column, least, most));
    };
    // Copies of the file may lack these columns.
    const auto newer = [&](const std::string& column, double least, double most) {
      return std::ranges::count(csv.columns, column) > 0 ? maybe(column, least, most)
                                                         : std::nullopt;
    };
    Device device{.name = printable(text("device")),
                  .memory_bytes = number("memory_bytes", 1e6, 1e15),
                  .memory_Bps = number("memory_Bps", 1e6, 1e18),
                  .stream_Bps = maybe("stream_Bps", 1e6, 1e18),
                  .slot_Bps = newer("slot_Bps", 1e6, 1e15),
                  .power_w = maybe("power_w", 1e-3, 1e6),
                  .compute_capability = newer("compute_capability", 1, 100),
                  .price = maybe("price", 1e-6, 1e6),
                  .price_date = printable(text("price_date")),
                  .price_source = printable(text("price_source")),
                  .source = printable(text("source"))};
    for (const Arithmetic arithmetic : every_arithmetic)
      if (const auto peak = maybe(name_of(arithmetic), 1e6, 1e20))
        device.peak_flops[arithmetic] = *peak;
    if (device.name.empty() || device.source.empty())
      refuse("device and source are needed");
    if (!names.insert(device.name).second)
      refuse("a second row of {}: allowed is one", brief(device.name));
    check(device);
    devices.push_back(std::move(device));
  });
  return devices;
}

const std::vector<Device>& known_devices() {
  static const std::vector<Device> devices = read_devices(data_root() + "/platforms/devices.csv");
  return devices;
}

std::string described(const Device& device) {
  std::string peaks;
  for (const auto& [arithmetic, peak] : device.peak_flops)
    peaks += fmt::format("{}{} {:g}", peaks.empty() ? "" : ", ", name_of(arithmetic), peak / 1e12);
  return fmt::format("{} TFLOP/s; {:g} GB at {:g} GB/s", peaks, device.memory_bytes / 1e9,
                     device.memory_Bps / 1e9) +
         (device.stream_Bps ? fmt::format(", measured {:g}", *device.stream_Bps / 1e9) : "") +
         (device.power_w ? fmt::format("; {:g} W", *device.power_w) : "") +
         (device.price ? fmt::format("; {:g} USD/h ({}, {})", *device.price, device.price_source,
                                     device.price_date)
                       : "") +
         "; " + device.source;
}

const Device* known_device(const std::string& name) {
  const auto found = std::ranges::find(known_devices(), device_of(name), &Device::name);
  return found == known_devices().end() ? nullptr : &*found;
}

}  // namespace syncline
