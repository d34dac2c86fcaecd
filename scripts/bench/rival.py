#!/usr/bin/python3
"""The published method (Allison et al. 2023) in scikit-learn, NumPy and SciPy, timed.

  rival.py [--tuned] [--threads N] [--rows ROWS] TRAIN.tsv TEST.tsv

Whitens (eps 1e-5), estimates the kernel exp by 200 steps of Adam on 10 blocks of 300 random rows,
calibrates on 1000 held-out rows, predicts from the 400 nearest rows that NearestNeighbors finds.

The plain version is put together from what scikit-learn and SciPy offer: the likelihood and its
gradient from GaussianProcessRegressor, the kernels of gaussian_process, cho_factor and cho_solve;
the N threads are those of the BLAS and NearestNeighbors. With --tuned it is what somebody who knows
LAPACK would write: factor, inverse and triangular solves called directly, distances from one matrix
product, the gradient by hand, and N processes that share blocks and rows, each with one BLAS thread.
With --rows the first ROWS of TEST are predicted.

Prints name<TAB>value: seconds of each part (reading separately; starting Python is not counted), for
names ending in -row per row of TEST; and RMSE, NLL and CAL in units of the standardised target.
"""
import argparse
import math
import multiprocessing
import sys
import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

BLOCKS, BLOCK_ROWS, STEPS, RATE = 10, 300, 200, 0.1
CALIBRATION_ROWS, NEIGHBOURS, WHITEN_EPS, NOISE_FLOOR = 1000, 400, 1e-5, 1e-6


def read(path):
    """Inputs and target of a table of numbers, by the quickest reader in NumPy."""
    with open(path, "rb") as f:
        columns = f.readline().count(b"\t") + 1
        table = np.fromfile(f, sep=" ").reshape(-1, columns)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()


class Shared:
    """What functions work on; with processes, set before they are forked."""

    x = y = search = None  # training rows, standardised
    blocks = None  # of estimation


# Parameters are (kernel scale, lengthscale, noise variance) throughout.


class Plain:
    """From the parts on offer."""

    chunk = 1000  # rows searched for at a time

    @staticmethod
    def kernel(scale, lengthscale, noise):
        return ConstantKernel(scale) * Matern(lengthscale, nu=0.5) + WhiteKernel(noise)

    @staticmethod
    def block(x, y):
        regressor = GaussianProcessRegressor(Plain.kernel(1, 1, 1), alpha=0, optimizer=None)
        return regressor.fit(x, y)

    @staticmethod
    def loss(block, theta):
        """Negative log likelihood and its gradient by the parameters."""
        value, gradient = block.log_marginal_likelihood(np.log(theta), True, clone_kernel=False)
        return -value, -gradient / theta

    @staticmethod
    def predict_one(x, neighbours, y, _, theta):
        """Mean and variance of an observation at x."""
        kernel = Plain.kernel(*theta)
        cross = kernel(neighbours, x[None])[:, 0]
        factor = cho_factor(kernel(neighbours), lower=True, check_finite=False)
        mean = cross @ cho_solve(factor, y, check_finite=False)
        explained = cross @ cho_solve(factor, cross, check_finite=False)
        return mean, theta[0] + theta[2] - explained


class Tuned:
    """By hand, over LAPACK."""

    chunk = 50  # rows a process takes at a time

    @staticmethod
    def distances(a):
        square = np.einsum("ij,ij->i", a, a)
        d = a @ a.T
        d *= -2
        d += square[:, None]
        d += square
        np.sqrt(np.maximum(d, 0, out=d), out=d)
        np.fill_diagonal(d, 0)
        return d

    @staticmethod
    def factor(k):
        """Lower Cholesky factor of k, which is overwritten."""
        lower, info = lapack.dpotrf(k.T, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            sys.exit("rival.py: a matrix is not positive definite")
        return lower

    @staticmethod
    def block(x, y):
        return Tuned.distances(x), y

    @staticmethod
    def loss(block, theta):
        distance, y = block
        scale, lengthscale, noise = theta
        r = distance / lengthscale
        c = np.exp(-r)
        k = scale * c
        np.einsum("ii->i", k)[:] += noise
        lower = Tuned.factor(k)
        a = lapack.dpotrs(lower, y, lower=1)[0]
        value = 0.5 * y @ a + np.log(np.diag(lower)).sum() + 0.5 * len(y) * math.log(2 * math.pi)
        inverse = np.tril(lapack.dpotri(lower, lower=1, overwrite_c=1)[0])
        inverse += np.tril(inverse, -1).T
        inverse -= np.outer(a, a)
        r *= c
        gradient = [np.vdot(inverse, c), np.vdot(inverse, r) * scale / lengthscale,
                    np.trace(inverse)]
        return value, 0.5 * np.array(gradient)

    @staticmethod
    def predict_one(_, neighbours, y, distance, theta):
        scale, lengthscale, noise = theta
        k = Tuned.distances(neighbours)
        k *= -1 / lengthscale
        np.exp(k, out=k)
        k *= scale
        np.einsum("ii->i", k)[:] += noise
        cross = scale * np.exp(distance / -lengthscale)
        v = lapack.dtrtrs(Tuned.factor(k), np.column_stack([cross, y]), lower=1)[0]
        return v[:, 0] @ v[:, 1], scale + noise - v[:, 0] @ v[:, 0]


def block_loss(task):
    style, b, theta = task
    value, gradient = style.loss(Shared.blocks[b], theta)
    return gradient / BLOCK_ROWS


def softplus(raw):
    return np.logaddexp(0, raw) + [0, 0, NOISE_FLOOR]


def estimate(apply, style):
    """The parameters, by Adam as published; 'apply' is map() or its like."""
    raw, mean, square = np.zeros(3), np.zeros(3), np.zeros(3)
    for step in range(1, STEPS + 1):
        theta = softplus(raw)
        tasks = [(style, b, theta) for b in range(len(Shared.blocks))]
        gradient = sum(apply(block_loss, tasks)) / (1 + np.exp(-raw))
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        raw -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return softplus(raw)


def predict_chunk(task):
    style, x, theta = task
    distance, rows = Shared.search.kneighbors(x)
    return np.array([style.predict_one(x[i], Shared.x[row], Shared.y[row], distance[i], theta)
                     for i, row in enumerate(rows)])


def predict(apply, style, x, theta):
    """Means and variances of observations."""
    tasks = [(style, x[i:i + style.chunk], theta) for i in range(0, len(x), style.chunk)]
    return np.concatenate(list(apply(predict_chunk, tasks))).T


class Clock:
    """Prints how long each part took, for each of 'count'."""

    def __init__(self):
        self.last = time.perf_counter()

    def lap(self, name, count=1):
        now = time.perf_counter()
        print(f"{name}\t{(now - self.last) / count:.6g}", flush=True)
        self.last = now


class Score:
    """RMSE, NLL and CAL of predictions."""

    def __init__(self, y, mean, variance):
        error = (y - mean) ** 2
        self.rmse = math.sqrt(error.mean())
        self.nll = np.mean(0.5 * (np.log(2 * math.pi * variance) + error / variance))
        self.cal = np.mean(error / variance)


def prepare(x, y, jobs):
    """Standardises, and shares rows and search; returns calibration rows and how to standardise."""
    rng = np.random.default_rng(1)
    order = rng.permutation(len(y))
    held, kept = order[:CALIBRATION_ROWS], order[CALIBRATION_ROWS:]
    centre, y_mean, y_sd = x[kept].mean(0), y[kept].mean(), y[kept].std()
    centred = x - centre
    values, vectors = np.linalg.eigh(centred[kept].T @ centred[kept] / len(kept))
    whiten = vectors / np.sqrt(np.maximum(values, 0) + WHITEN_EPS) / math.sqrt(x.shape[1])

    def standardise(x, y):
        return (x - centre) @ whiten, (y - y_mean) / y_sd

    x, y = centred @ whiten, (y - y_mean) / y_sd
    Shared.x, Shared.y = x[kept], y[kept]
    Shared.search = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(kept)), n_jobs=jobs)
    Shared.search.fit(Shared.x)
    return x[held], y[held], standardise


def draw_blocks(style):
    rng = np.random.default_rng(2)
    n = len(Shared.y)
    drawn = rng.choice(n, (min(BLOCKS, n // BLOCK_ROWS), BLOCK_ROWS), replace=False)
    Shared.blocks = [style.block(Shared.x[b], Shared.y[b]) for b in drawn]


def run(a, style, make_apply):
    clock = Clock()
    x, y = read(a.train)
    clock.lap("read")
    x_test, y_test = read(a.test)
    clock.lap("read-row", len(y_test))
    x_held, y_held, standardise = prepare(x, y, 1 if a.tuned else a.threads)
    clock.lap("index")
    draw_blocks(style)
    apply = make_apply()
    theta = estimate(apply, style)
    clock.lap("fit")
    alpha = Score(y_held, *predict(apply, style, x_held, theta)).cal
    clock.lap("calibrate")
    x_test, y_test = standardise(x_test[:a.rows], y_test[:a.rows])
    mean, variance = predict(apply, style, x_test, theta)
    clock.lap("predict-row", len(y_test))
    for name, value in vars(Score(y_test, mean, alpha * variance)).items():
        print(f"{name}\t{value:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tuned", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int)
    parser.add_argument("train")
    parser.add_argument("test")
    a = parser.parse_args()
    with threadpool_limits(1 if a.tuned else a.threads):
        if not a.tuned:
            run(a, Plain, lambda: map)
            return
        # Processes are forked once the rows are in memory to be shared.
        run(a, Tuned, lambda: multiprocessing.get_context("fork").Pool(a.threads).map)


if __name__ == "__main__":
    main()
