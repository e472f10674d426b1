# Each compressor's encoding beside its floor: awk -F, -f floors.awk kernels/README.md predicted.csv TABLES...
# The floor: the README's column "at least" over the bandwidth of a copy on the device itself. The
# prediction: its column "moves" over a share of that bandwidth. Error feedback adds 8 bytes where it is
# not the default.
FILENAME ~ /README\.md$/ {
  cells = split($0, cell, "|")
  if (cell[2] == " compressor ")
    for (i = 3; i <= cells; ++i) column[cell[i]] = i
  if (cell[2] ~ /^ `[a-z-]+` $/ && cell[column[" at least "]] ~ /^ [0-9.]+:/) {
    gsub(/[ `]/, "", cell[2])
    floor[cell[2]] = cell[column[" at least "]] + 0
    moved[cell[2]] = " moves " in column ? cell[column[" moves "]] + 0 : floor[cell[2]]
  }
  next
}
FILENAME ~ /predicted\.csv$/ { if (!/^#/ && $1 != "compressor") { low[$1] = $2; high[$1] = $3 } next }
/^# copy bandwidth: / { split($0, word, " "); copy[FILENAME] = word[4] + 0; next }
/^#/ || $3 !~ /^encode/ || NF != 9 || ($2 ~ /density=/ && $2 !~ /density=0\.01( |$)/) { next }
{
  key = $1 " " $2 " " $3
  if (!(key in most)) order[++count] = key
  if ($4 + 0 < most[key] + 0) next
  most[key] = $4 + 0; seconds[key] = $5 + 0; name[key] = $1; settings[key] = $2; of[key] = copy[FILENAME]
  operation[key] = $3
}
function ms(bytes, key) { return sprintf("%.3f", bytes * 1e11 / of[key]) }
END {
  printf "\nms per 1e8 elements, of the largest tensor measured, density 0.01; bytes per element, GB/s and %% of copy by the floor\n\n"
  printf "%-24s %-38s %11s %8s %6s %6s %15s %7s %4s\n", "", "", "elements", "measured", "bytes", "floor", "predicted", "GB/s", "copy"
  for (i = 1; i <= count; ++i) {
    key = order[i]
    line = name[key] (operation[key] == "encode" ? "" : " as published")
    bytes = operation[key] == "encode" ? floor[name[key]] : 0
    more = bytes > 0 && bytes < 12 && settings[key] ~ /error-feedback=on/ ? 8 : 0
    bytes += more
    out = sprintf("%-24s %-38s %11d %8.3f", line, substr(settings[key], 1, 38), most[key], seconds[key] * 1e11 / most[key])
    if (bytes > 0 && of[key] > 0) {
      rate = bytes * most[key] / seconds[key]
      guess = bytes >= 12 && name[key] in low ? ms((moved[name[key]] + more) / high[name[key]], key) " to " ms((moved[name[key]] + more) / low[name[key]], key) : "-"
      out = out sprintf(" %6.2f %6s %15s %7.0f %3.0f%%", bytes, ms(bytes, key), guess, rate * 1e-9, 100 * rate / of[key])
    }
    print out
  }
}
