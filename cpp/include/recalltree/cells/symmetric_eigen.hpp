// Eigenvalues and eigenvectors of a symmetric matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace recalltree {

// On entry `matrix` holds the n x n entries, on return an eigenvector in each row, the one with the
// largest eigenvalue first. Returns the eigenvalues in the same order. The entries must be finite.
// Additions and multiplications happen in one fixed order: the same bits on every machine.
std::vector<double> symmetric_eigen(std::vector<double>& matrix, std::size_t n);

}  // namespace recalltree
