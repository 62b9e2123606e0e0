#include <cstdint>
#include <string>

#include "core/warning.hpp"

namespace kqd {
namespace {

constexpr std::int64_t operator""_n(unsigned long long value) {
  return static_cast<std::int64_t>(value);
}

std::string operator""_t(const char* text, std::size_t size) {
  return {text, size};
}

// The English sentences of the library: lower case at the start and no full stop at the end, as they follow a label.
// Sentences that hold for one thing and for several avoid the plural: "blank lines skipped: 1".
std::vector<WarningEntry> make_catalogue() {
  using enum WarningId;
  return {
      // Reading
      {numbers_in_header,
       "numbers-in-header",
       "{0}:{1}: read as a header although {2} of its {3} cells are numbers. If it is data: " KQD_OPTION(
           "header=absent"),
       {"sales.csv"_t, 1_n, 2_n, 3_n},
       "The first row has texts and numbers, such as years. Check that it is the header."},
      {first_row_counts,
       "first-row-counts",
       "{0}:{1}: read as data although it counts up like a header. If it is a header: " KQD_OPTION(
           "header=present") ", if not: " KQD_OPTION("header=absent"),
       {"sales.csv"_t, 1_n},
       "The first row is 0, 1, 2, ... or consecutive years. State whether it is a header."},
      {first_row_shared,
       "first-row-shared",
       "{0}:{1}: read as data although all files begin with it. If it is a header: " KQD_OPTION(
           "header=present") ", if not: " KQD_OPTION("header=absent"),
       {"sales.csv"_t, 1_n},
       "All files have the same first row of numbers. State whether it is a header."},
      {first_row_far,
       "first-row-far",
       "{0}:{1}: read as data although its values are far from all others of their columns. If it is a "
       "header: " KQD_OPTION("header=present") ", if not: " KQD_OPTION("header=absent"),
       {"sales.csv"_t, 1_n},
       "The first row has whole numbers unlike those below it. State whether it is a header."},
      {blank_lines_skipped,
       "blank-lines-skipped",
       "{0}: blank lines skipped: {1}. If one is a row without values, the rows after it are paired wrongly: write NA "
       "for a missing value",
       {"before.csv"_t, 2_n},
       "Rows are paired by their position, and a skipped line shifts those that follow. Write NA for a missing value."},
      {dates_as_text,
       "dates-as-text",
       "{0}: dates are treated as text in: {1}. To read them as numbers: " KQD_OPTION("dates=true"),
       {"orders.csv"_t, "\"day\""_t},
       "Dates as text are equal or different, never near. Read them as numbers unless they are labels."},
      {hash_collisions,
       "hash-collisions",
       "column {0}: different texts share {1} of the {2} hash columns and count as equal, such as {3}. " KQD_OPTION(
           "categorical=onehot") " distinguishes up to 1000 texts",
       {"\"city\""_t, 1_n, 64_n, "\"Rome\" and \"Oslo\""_t},
       "A column has more texts than hashing can distinguish. Use one column per text if there are at most 1000."},
      {listed_column_not_compared,
       "listed-column-not-compared",
       "{0}: column {1} has the {2} and is not compared, although " KQD_OPTION("columns") " lists it",
       {"survey.csv"_t, "\"w\""_t, "weights"_t},
       "A column of weights, blocks, clusters or groups is never compared. Remove it from the list."},
      {columns_reordered,
       "columns-reordered",
       "{0}: columns are reordered by name to match {1}",
       {"april.csv"_t, "march.csv"_t},
       "Both files have the same names in another order. Nothing to do."},
      {columns_by_position,
       "columns-by-position",
       "{0} has no column names: its columns are matched with those of {1} by position",
       {"april.csv"_t, "march.csv"_t},
       "Only one file has a header. Check that the columns are in the same order."},
      {pairs_omitted,
       "pairs-omitted",
       "pairs excluded because a value of {x} or of {y} is missing: {0} of {1}",
       {2_n, 30_n},
       "A pair with a missing value cannot be compared. Check that values are missing at random."},
      {rows_omitted,
       "rows-omitted",
       "{0}: rows excluded because a value is missing: {1} of {2}",
       {"sales.csv"_t, 2_n, 30_n},
       "Rows with missing values were excluded as requested. Check that values are missing at random."},
      {values_imputed,
       "values-imputed",
       "{0}: missing values replaced by medians: {1}",
       {"sales.csv"_t, 4_n},
       "Missing values were replaced as requested. Many of them make samples look more alike than they are."},
      {rows_drawn,
       "rows-drawn",
       "{0}: rows used, drawn at random: {1}",
       {"sales.csv"_t, 1000_n},
       "The file has more rows than " KQD_OPTION("max_rows") " allows. Allow more for more power."},
      {files_in_blocks,
       "files-in-blocks",
       "a test of the rows takes about {0} MB of memory, more than {1} MB, so the files are read in blocks: some rows "
       "choose directions and are not tested, and the p-value is not that of the rows in memory. To allow "
       "more: " KQD_OPTION("max_memory"),
       {2600_n, 800_n},
       "Both tests are exact, but their p-values differ. Allow more memory if the result is to be that of smaller "
       "files."},
      {zero_interquartile_range,
       "zero-interquartile-range",
       "at least half of the values are equal in: {0}. The interquartile range is 0, so the median absolute deviation "
       "or the standard deviation is used instead",
       {"\"visits\""_t},
       "A column cannot be scaled by its interquartile range. Nothing to do, or use " KQD_OPTION(
           "standardize=zscore") "."},
      {different_names,
       "different-names",
       "x is named {0} and y is named {1}; they are compared as the same quantity",
       {"\"height\""_t, "\"weight\""_t},
       "Two columns with different names were passed. Check that they measure the same thing."},
      {integers_offset,
       "integers-offset",
       "column {0}: {1} was subtracted from all values, because integers beyond 2^53 would be rounded",
       {"\"id\""_t, "9007199254740993"_t},
       "A column has integers that doubles cannot represent. If it is an identifier, drop it."},
      {new_levels,
       "new-levels",
       "{0}: {1} rows have a text in column \"{2}\" that the baseline does not have, such as {3}; they count as none "
       "of "
       "its levels",
       {"day-5.csv"_t, 12_n, "plan"_t, "\"Pro\""_t},
       "A category of the baseline has new levels. The test sees fewer rows of the old ones; it does not see the new "
       "ones apart. If they are here to stay, begin with a baseline that has them."},
      {new_missing_values,
       "new-missing-values",
       "{0}: {1} rows have no value in column \"{2}\", which the baseline always has; numbers count as its median, "
       "texts "
       "as none of its levels",
       {"day-5.csv"_t, 12_n, "price"_t},
       "Values are missing where the baseline has none. Check the source; the test sees them only if there are many."},

      // Samples
      {one_row,
       "one-row",
       "{0} has only one row, so all of its quantiles are equal",
       {"X"_t},
       "One row does not show the spread of a distribution. Use more rows."},
      {identical_points,
       "identical-points",
       "all {0} pooled points are identical: there is nothing to compare",
       {6_n},
       "All rows of both samples are equal. Check the columns that were chosen."},
      {constant_columns,
       "constant-columns",
       "constant columns, which carry no information ({0} of {1}): {2}",
       {2_n, 3_n, "1, 3"_t},
       "A column has the same value in all rows of both samples. It can be dropped."},
      {dominating_columns,
       "dominating-columns",
       "of {2} columns, these have {1:.4g}% of the variance and dominate all distances: {0}. To let all columns "
       "count: " KQD_OPTION("standardize=zscore"),
       {"\"income\""_t, 99.97, 6_n},
       "Columns are in different units, and distances between rows see only the largest. Standardize the columns."},
      {copied_rows,
       "copied-rows",
       "rows of {0} are copies: {1} of its {2} distinct rows occur {3} times each, so p may be far too small. Remove "
       "the copies, or make each set of copies a cluster",
       {"X"_t, 25_n, 25_n, 2_n},
       "Copies are not independent observations. Remove them, or use a clusters design."},
      {squares_underflow,
       "squares-underflow",
       "the pooled points are so close together that squared distances underflow. Rescale the columns",
       {},
       "Values differ by less than 1e-150. Multiply the columns by a large constant."},

      // Options
      {options_without_effect,
       "options-without-effect",
       "{0}: no effect {1}",
       {"power"_t, "on method mmd"_t},
       "An option was given that the method, its directions or its calibration do not use. Remove it, or choose "
       "another method."},

      // Kernels and directions
      {zero_median_distance,
       "zero-median-distance",
       "more than half of the distances between pooled points are 0. The bandwidth is based on the median of the other "
       "distances, {0:.6g}",
       {4.0},
       "Many rows are equal. Check that the bandwidth suits the data, or choose one."},
      {zero_distances,
       "zero-distances",
       "all pooled points are equal, so the bandwidth is set to 1",
       {},
       "All rows of both samples are equal. Check the columns that were chosen."},
      {tiny_kernel,
       "tiny-kernel",
       "kernel {0} is at most {1:.3g}: squares of its values underflow, and methods that need them find no difference. "
       "Multiply it by a constant",
       {"mine"_t, 1e-200},
       "A kernel function returns very small values. Multiply it by a constant."},
      {wide_bandwidths,
       "wide-bandwidths",
       "no two rows are more than {0:.3g} apart, but the narrowest {1} kernel has bandwidth {2:.3g} and hardly "
       "distinguishes rows. Rescale the columns",
       {1e-20, "Gaussian"_t, 1e-6},
       "The published rule for the bandwidths of mmd-agg has a lower bound. Rescale the columns."},
      {fewer_principal_directions,
       "fewer-principal-directions",
       "{0} principal directions were requested, but the pooled points vary along only {1}",
       {64_n, 5_n},
       "The data have fewer dimensions than directions were requested. Nothing to do."},
      {too_many_reference_points,
       "too-many-reference-points",
       KQD_OPTION("num_reference={0}") " is more than the {1} pooled points, so all of them are used",
       {100_n, 6_n},
       "More reference points were requested than there are rows. Request fewer."},
      {all_points_are_reference,
       "all-points-are-reference",
       KQD_OPTION("num_reference={0}") " uses every pooled point as a reference point",
       {6_n},
       "As many reference points were requested as there are rows. Request fewer."},
      {fewer_reference_points,
       "fewer-reference-points",
       "{0} pooled reference points would leave too few rows to test, so their number is reduced to {1}",
       {6_n, 3_n},
       "Rows that become reference points are held out of the test. Request fewer, or another reference measure."},
      {flat_directions,
       "flat-directions",
       "{0} of {1} directions are flat and carry no information: more than 95% of the pooled values along them are "
       "equal",
       {64_n, 64_n},
       "Most values along a direction are equal. Check whether most rows of the data are equal."},
      {flat_directions_bandwidth,
       "flat-directions-bandwidth",
       "{0} of {1} directions are flat and carry no information: more than 95% of the pooled values along them are "
       "equal. The bandwidth {2:.6g} may not suit the data, or most rows are equal",
       {64_n, 64_n, 1.0},
       "Most values along a direction are equal. Try a larger or smaller bandwidth."},
      {flat_pairs,
       "flat-pairs",
       "pairs with directions that carry no information, because more than 95% of the values along them are equal: {0} "
       "of {1}",
       {1_n, 3_n},
       "As flat-directions, in a matrix of distances."},

      // Methods
      {columns_sampled,
       "columns-sampled",
       "only {0} of {1} columns, drawn at random, are examined individually; all columns are examined together",
       {64_n, 10000_n},
       "There are too many columns to examine each one. Select columns if single ones matter."},
      {linear_overflow,
       "linear-overflow",
       "linear combinations of the columns are not examined, because products of values this large overflow. Rescale "
       "the columns",
       {},
       "Values are beyond about 1e75. Rescale or standardize the columns."},
      {linear_underflow,
       "linear-underflow",
       "linear combinations of the columns are not examined, because products of values this small underflow. Rescale "
       "the columns",
       {},
       "Values are below about 1e-77. Rescale or standardize the columns."},
      {unmatched_rows,
       "unmatched-rows",
       "{0} compares row by row, so {1} of the {2} rows of {3} are not used",
       {"mmd-lin"_t, 2_n, 5_n, "Y"_t},
       "The samples have different sizes. Use another method to use all rows."},
      {singular_covariance,
       "singular-covariance",
       "{0}: the covariance of {1} features on {2} rows of {3} is singular without the ridge, which determines the "
       "size "
       "of the statistic. Use fewer locations",
       {"me"_t, 10_n, 8_n, "X"_t},
       "There are too few rows for so many features. Use fewer locations."},
      {large_ridge,
       "large-ridge",
       "ridge = {0} exceeds {1:.3g}, the largest variance of the features: it determines the size of the statistic, "
       "and "
       "an asymptotic test has almost no power. Rescale the columns or use a smaller ridge",
       {1e-5, 1e-7},
       "The features hardly vary. Rescale the columns or use a smaller ridge."},
      {equal_features,
       "equal-features",
       "{0}: all rows have the same features, because the locations are far from the data, possibly due to an outlier. "
       "Remove the outlier, or pass locations as reference points",
       {"me"_t},
       "Locations follow the mean and covariance of the data, which one outlier can dominate. Remove the outlier."},
      {median_not_converged,
       "median-not-converged",
       "the geometric median did not converge in {0} iterations. Allow more iterations",
       {200_n},
       "The distance is approximate. Increase the parameter iterations."},
      {sinkhorn_not_converged,
       "sinkhorn-not-converged",
       "Sinkhorn did not converge in {0} sweeps: its marginals are off by {1:.2g}. Use more iterations, a larger "
       "epsilon or a larger tolerance",
       {1000_n, 1e-4},
       "The distance is approximate. Increase the parameter iterations, epsilon or tolerance."},
      {sinkhorn_not_converged_in_test,
       "sinkhorn-not-converged-in-test",
       "Sinkhorn did not converge in {0} sweeps: its marginals are off by {1:.2g}. The test is valid but may lose "
       "power: use more iterations, a larger epsilon or a larger tolerance",
       {1000_n, 1e-4},
       "Permutations may not have converged either. Increase the parameter iterations, epsilon or tolerance."},
      {images_not_shown,
       "images-not-shown",
       "images with this many pixels are not shown",
       {},
       "The report shows small images only. Nothing to do."},

      // Weights and designs
      {weights_may_differ,
       "weights-may-differ",
       "the {0} of the weights of {x} and {y} may differ (p = {1:.2g}), and then rows cannot be exchanged with their "
       "weights. State what the weights are: " KQD_OPTION("weights_as=frequency") ", " KQD_OPTION(
           "weights_as=precision") " or " KQD_OPTION("weights_as=sampling"),
       {"means"_t, 0.02},
       "A permutation test with weights is valid only if both samples were weighted in the same way. State what the "
       "weights are."},
      {sampling_weights,
       "sampling-weights",
       "sampling weights: {0} of {1} rows of {x} and {2} of {3} of {y} were kept, each with a probability proportional "
       "to "
       "its weight. The test of these rows is exact if no possible weight exceeds the largest of its sample",
       {80_n, 100_n, 70_n, 90_n},
       "Rows were drawn by their weights, so that all have the same weight. Nothing to do."},
      {precision_weights,
       "precision-weights",
       "precision weights: permutations exchange rows and keep the weights in their positions, which is exact if "
       "weights do not depend on the values",
       {},
       "Weights are treated as precisions, as requested. Nothing to do."},
      {clusters_of_equal_size,
       "clusters-of-equal-size",
       "clusters have {0} to {1} rows: permutations exchange clusters of the same size",
       {3_n, 5_n},
       "Cluster sizes vary, and both samples have enough clusters of the same size. Nothing to do."},
      {clusters_reduced_to_powers,
       "clusters-reduced-to-powers",
       "cluster sizes differ between {x} and {y} ({0} to {1} rows): clusters were reduced to powers of two by random "
       "draws, "
       "which leaves {2} of {3} rows of {x} and {4} of {5} of {y}",
       {3_n, 9_n, 80_n, 100_n, 70_n, 90_n},
       "Too few clusters of X and Y have the same size to exchange them. Nothing to do."},
      {clusters_reduced_to_smallest,
       "clusters-reduced-to-smallest",
       "cluster sizes differ between {x} and {y} ({0} to {1} rows): all clusters were reduced to the smallest size by "
       "random draws, which leaves {2} of {3} rows of {x} and {4} of {5} of {y}",
       {3_n, 9_n, 30_n, 100_n, 30_n, 90_n},
       "Too few clusters of X and Y have the same size, even as powers of two. Merge or remove very small clusters."},
      {one_sided_blocks,
       "one-sided-blocks",
       "{0} of {1} blocks have rows of one sample only: their {2} rows keep their labels in every permutation",
       {2_n, 10_n, 7_n},
       "Labels are exchanged within blocks. Use larger blocks, or drop those without rows of both samples."},
      {unmatched_clusters,
       "unmatched-clusters",
       "{0} of {1} clusters have a size that no cluster of the other sample has: they keep their labels in every "
       "permutation",
       {2_n, 10_n},
       "Labels are exchanged between clusters of equal size. Nothing to do, or remove these clusters."},

      // Calibration
      {more_permutations,
       "more-permutations",
       "{0} permutations are used instead of {1}, because ranks among fewer hardly distinguish {2} statistics",
       {399_n, 99_n, 80_n},
       "A test that combines many statistics needs more permutations than were requested. Request at least as many."},
      {few_distinct_permutations,
       "few-distinct-permutations",
       "the smallest p-value that {2} permutations can give is {1:.3g}, above alpha = {0}: the test cannot reject. Use "
       "more rows",
       {0.05, 0.25, 4_n},
       "The samples are so small that no result can be significant. Use more rows."},
      {few_permutations,
       "few-permutations",
       "the smallest p-value that {2} permutations can give is {1:.3g}, above alpha = {0}: the test cannot reject. "
       "Increase " KQD_OPTION("num_permutations"),
       {0.01, 0.1, 9_n},
       "Too few permutations were requested for this significance level. Request more."},
      {tied_permutations,
       "tied-permutations",
       "because of ties the smallest attainable p-value is {2:.3g}, above alpha = {3}: {0} of all {1} permutations "
       "have "
       "the largest statistic. Use more rows",
       {2_n, 20_n, 0.1, 0.05},
       "Samples of equal size that are exchanged have the same distance, so permutations come in pairs. Use more "
       "rows."},
      {decision_depends_on_directions,
       "decision-depends-on-directions",
       "the first half of the {0} directions gives p = {1:.3g} and the second half p = {2:.3g}, on both sides of alpha "
       "= "
       "{3}: another seed may change the decision. Use more directions, such as " KQD_OPTION("num_directions={4}"),
       {128_n, 0.031, 0.072, 0.05, 512_n},
       "The p-value depends on the directions that were drawn. It is valid, but use more directions for a decision "
       "that "
       "does not depend on the seed."},
      {few_permutations_for_pairs,
       "few-permutations-for-pairs",
       "p-values are at least {0:.3g}, so none that is adjusted for {1} pairs can be {2:g} or less. Use " KQD_OPTION(
           "num_permutations={3}") " or more, if the samples have that many permutations",
       {0.05, 3_n, 0.05, 59_n},
       "The adjustment multiplies p-values by up to the number of pairs. Request more permutations."},
      {few_terms,
       "few-terms",
       "with only {0} terms the asymptotic p-value is too small (anti-conservative). " KQD_OPTION(
           "calibration=permutation") " is exact",
       {12_n},
       "The normal approximation needs at least 30 terms. Use permutations."},
      {equal_terms,
       "equal-terms",
       "all {0} terms are equal, so the limiting distribution has no variance. Use " KQD_OPTION(
           "calibration=permutation"),
       {40_n},
       "The standard error is 0, and the p-value is 1. Use permutations."},
      {slow_permutations,
       "slow-permutations",
       "{0} is recomputed from scratch for each of {1} permutations, which takes about {2}",
       {"sinkhorn"_t, 999_n, "3 minutes"_t},
       "The method has no faster way to evaluate permutations. Wait, or use fewer permutations or another method."},
      {slow_precision_weights,
       "slow-precision-weights",
       "precision weights: {0} is recomputed from scratch for each of {1} permutations, which takes about {2}",
       {"ekqd"_t, 999_n, "3 minutes"_t},
       "Weights that keep their positions change every term. Wait, or use fewer permutations."},
      // Monitoring
      {batch_too_small,
       "batch-too-small",
       "the batch has {0} rows and does not count for the alarm, whose batches need {1}",
       {120_n, 400_n},
       "The alarm compares equally many rows of every batch, 80% of the first one. Collect more rows per batch."},
      {neighbours_alike,
       "neighbours-alike",
       "the {0} batches are like their neighbours (p = {1:.2g}), so the alarm may be raised without a change. Use "
       "longer "
       "batches",
       {40_n, 0.001},
       "The alarm expects batches in any order to be equally likely. Trends and seasons break that: use longer "
       "batches, such as whole weeks."},
  };
}

}  // namespace

std::span<const WarningEntry> warning_catalogue() {
  static const std::vector<WarningEntry> kCatalogue = make_catalogue();
  return kCatalogue;
}

}  // namespace kqd
