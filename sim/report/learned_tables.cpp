#include "sim/report/learned_tables.h"

#include "sim/report/result_json.h"

namespace syncline {
namespace {

constexpr AllowedNumbers edge{.least = -100, .most = 100, .null = true};

template <class Row>
LearnedTable table_of(const char* name, const char* begin, const char* nothing, bool always,
                      std::vector<Row> Learned::*rows,
                      const std::vector<NamedNumber<Row>>& columns) {
  LearnedTable table{.name = name, .begin = begin, .nothing = nothing, .always = always};
  for (const NamedNumber<Row>& column : columns)
    table.columns.push_back(
        {.name = column.name,
         .allowed = column.allowed,
         .number = [rows, member = column.member](const Learned& learned, std::size_t row)
             -> std::optional<double> { return number_in((learned.*rows)[row], member); },
         .put =
             [rows, member = column.member](Learned& learned, std::size_t row,
                                            std::optional<double> number) {
               put_number((learned.*rows)[row], member, number);
             }});
  table.rows = [rows](const Learned& learned) { return (learned.*rows).size(); };
  table.resize = [rows](Learned& learned, std::size_t size) { (learned.*rows).resize(size); };
  return table;
}

}  // namespace

const std::vector<LearnedTable>& learned_tables() {
  using Point = CurvePoint;
  using Bin = HistogramBin;
  constexpr AllowedNumbers count = any_count;
  static const std::vector<LearnedTable> all{
      table_of<Point>("curve", "seconds,samples,bytes,loss,accuracy,", "nan", true, &Learned::curve,
                      {{"seconds", count, &Point::seconds},
                       {"samples", count, &Point::samples},
                       {"bytes", count, &Point::bytes},
                       {"loss", any_loss, &Point::loss},
                       {"accuracy", any_share.or_null(), &Point::accuracy},
                       {"iterations", count, &Point::iterations},
                       {"train_accuracy", any_share.or_null(), &Point::train_accuracy},
                       {"heldout_loss", any_loss, &Point::heldout_loss}}),
      table_of<Compressed>(
          "compression", "iteration,messages,values,sent_values,", "", false,
          &Learned::each_compressed,
          {{"iteration", count, &Compressed::iteration},
           {"messages", count, &Compressed::messages},
           {"values", count, &Compressed::values},
           {"sent_values", count, &Compressed::sent_values},
           {"least_sent_values", count, &Compressed::least_sent_values},
           {"most_sent_values", count, &Compressed::most_sent_values},
           {"target_values", count.or_null(), &Compressed::target_values},
           {"left_out", any_amount, &Compressed::left_out},
           {"left_out_bound", any_amount.or_null(), &Compressed::left_out_bound},
           {"left_out_bound_squared", any_amount.or_null(), &Compressed::left_out_bound_squared},
           {"bits_per_value", count, &Compressed::bits_per_value},
           {"bits_bound", count.or_null(), &Compressed::bits_bound}}),
      table_of<Bin>("histogram", "iteration,from,to,share,", "", false, &Learned::histogram,
                    {{"iteration", count, &Bin::iteration},
                     {"from", edge, &Bin::from},
                     {"to", edge, &Bin::to},
                     {"share", any_share, &Bin::share},
                     {"square_share", any_share, &Bin::square_share},
                     {"normal_share", any_share, &Bin::normal_share},
                     {"normal_square_share", any_share, &Bin::normal_square_share}})};
  return all;
}

std::string table_csv(const Learned& learned, const LearnedTable& table) {
  const std::size_t rows = table.rows(learned);
  if (rows == 0 && !table.always)
    return "";
  std::string text;
  for (const LearnedColumn& column : table.columns)
    text += (&column == &table.columns.front() ? "" : ",") + column.name;
  text += "\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (const LearnedColumn& column : table.columns) {
      const auto number = column.number(learned, row);
      text += &column == &table.columns.front() ? "" : ",";
      text += number ? exact_text(*number) : table.nothing;
    }
    text += "\n";
  }
  return text;
}

}  // namespace syncline
