"""The tests of experiments/peers/peer_tests.py compute the same values as kqd, for the observed labels and for permutations."""

import pathlib
import sys

import kqd
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "experiments" / "peers"))
import peer_tests

RNG = np.random.default_rng(3)
N, COLUMNS, PERMUTATIONS, THREADS = 40, 3, 5, 2
X, Y = RNG.normal(size=(N, COLUMNS)), RNG.normal(size=(N, COLUMNS)) + 0.4
BANDWIDTH = 1.5
DIRECTIONS = peer_tests.Directions(RNG.normal(size=(6, COLUMNS)), RNG.normal(size=(6, 4)), BANDWIDTH)
LINES = RNG.normal(size=(COLUMNS, 7))
LINES /= np.linalg.norm(LINES, axis=0)


KQD = {
    "ekqd": dict(method="ekqd", bandwidth=BANDWIDTH, reference=DIRECTIONS.reference,
                 coefficients=DIRECTIONS.coefficients),
    "sw": dict(method="sw", power=2, reference=LINES.T, coefficients=np.eye(LINES.shape[1])),
    "mmd": dict(method="mmd", bandwidth=BANDWIDTH),
    "energy": dict(method="energy"),
}
PEERS = {
    "ekqd numpy": lambda: peer_tests.ekqd_numpy(X, Y, DIRECTIONS, PERMUTATIONS, THREADS),
    "ekqd numpy_sorted_once": lambda: peer_tests.ekqd_numpy_sorted_once(X, Y, DIRECTIONS, PERMUTATIONS, THREADS),
    "sw pot": lambda: peer_tests.sliced_pot(X, Y, LINES, PERMUTATIONS, THREADS),
    "mmd numpy": lambda: peer_tests.mmd_numpy(X, Y, BANDWIDTH, PERMUTATIONS),
    "energy scipy": lambda: peer_tests.energy_scipy(X, Y, PERMUTATIONS),
}
TORCH_PEERS = {
    "ekqd": lambda torch: peer_tests.ekqd_torch(X, Y, DIRECTIONS, PERMUTATIONS, THREADS),
    "sw": lambda torch: peer_tests.sliced_pot(X, Y, LINES, PERMUTATIONS, THREADS, torch.from_numpy),
    "mmd": lambda torch: peer_tests.mmd_torch(X, Y, BANDWIDTH, PERMUTATIONS, torch.float64),
}


def expect_values_of_kqd(statistic, found):
    pool = np.concatenate([X, Y])
    assert len(found) == PERMUTATIONS + 1
    for permutation, value in enumerate(found):
        x, y = np.split(pool[peer_tests.permuted_rows(permutation, len(pool))], [N])
        expected = kqd.distance(x, y, rng=0, **KQD[statistic]).statistic
        # Means of numbers of order one, or their differences: far less than a thousand roundings.
        assert value == pytest.approx(expected, rel=0, abs=1000 * np.finfo(float).eps)


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_computes_the_statistic_of_kqd_for_every_permutation(peer):
    expect_values_of_kqd(peer.split()[0], PEERS[peer]())


@pytest.mark.parametrize("statistic", TORCH_PEERS)
def test_so_does_a_peer_on_pytorch(statistic):
    expect_values_of_kqd(statistic, TORCH_PEERS[statistic](pytest.importorskip("torch")))


def test_permutation_zero_is_the_samples_as_they_are_and_others_are_orders_of_all_rows():
    assert (peer_tests.permuted_rows(0, 6) == np.arange(6)).all()
    assert sorted(peer_tests.permuted_rows(1, 6)) == list(range(6))
    assert (peer_tests.permuted_rows(1, 60) != peer_tests.permuted_rows(2, 60)).any()


def test_the_p_value_counts_the_observed_permutation():
    assert peer_tests.p_value(np.array([2.0, 1.0, 3.0, 2.0])) == 0.75


def test_scipys_test_of_one_column_is_that_of_wasserstein():
    x, y = X[:, 0], Y[:, 0]
    values = peer_tests.wasserstein_scipy(x, y, PERMUTATIONS)
    assert len(values) == PERMUTATIONS + 1
    assert values[0] == pytest.approx(kqd.distance(x, y, method="wasserstein", rng=0).statistic, abs=1e-13)
