# The tests of R's packages, for bench_peers.py:
#
#     Rscript peer_tests.R NAME FOLDER ROWS COLUMNS PERMUTATIONS BANDWIDTH
#
# FOLDER holds x.bin and y.bin, doubles row by row. Prints one JSON object with the numbers of a child of bench_peers.py.

suppressMessages({library(energy); library(kernlab)})

arguments <- commandArgs(trailingOnly = TRUE)
numbers <- as.numeric(arguments[3:6])
rows <- numbers[1]; columns <- numbers[2]; permutations <- numbers[3]; bandwidth <- numbers[4]

sample_of <- function(name) {
  values <- readBin(file.path(arguments[2], name), "double", rows * columns)
  matrix(values, rows, columns, byrow = TRUE)
}

# Bytes of resident memory; "VmHWM" is the peak since the last reset.
memory <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}

tests <- list(
  # The package reports nx ny / N times the energy distance.
  energy = function(x, y) {
    found <- eqdist.etest(rbind(x, y), c(rows, rows), R = permutations)
    c(found$statistic * 2 / rows, found$p.value)
  },
  # The package has a bootstrapped bound at level 0.05 and no p-value.
  kernlab = function(x, y) {
    found <- kmmd(x, y, kernel = "rbfdot", kpar = list(sigma = 0.5 / bandwidth^2), asymptotic = TRUE, ntimes = permutations)
    c(mmdstats(found)[1], NA)
  }
)

x <- sample_of("x.bin")
y <- sample_of("y.bin")
invisible(gc())
cat("5", file = "/proc/self/clear_refs")  # resets VmHWM
before <- memory("VmRSS")
spent <- system.time(found <- tests[[arguments[1]]](x, y))
cat(sprintf('{"seconds": %.17g, "processor_seconds": %.17g, "peak_bytes": %.17g, "statistic": %.17g, "pvalue": %s}\n',
            spent[["elapsed"]], spent[["user.self"]] + spent[["sys.self"]], memory("VmHWM") - before, found[1],
            if (is.na(found[2])) "null" else sprintf("%.17g", found[2])))
