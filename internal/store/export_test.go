package store

// Frugal makes every limit of what a Scan may cost tiny, so that a few documents
// exercise all of its ways, and returns what undoes that.
func Frugal(n int) (undo func()) {
	old := costs
	costs = costLimits{few: n, probed: 4 * n, perNumber: 2, collected: 4 * n, aloneShare: 4, aloneLeast: n, alone: 64,
		seekBytes: 600, merged: 2, filter: 4 * n, first: 8 * n, absences: 2, absent: n,
		tabled: 1, columns: 3, perTested: 4, tested: 10_000}
	return func() { costs = old }
}

// SplitInSteps makes steps of splits copy so many documents, and splits seal their range only when nothing is left.
func SplitInSteps(documents int) (restore func()) {
	old := splitCosts
	splitCosts.documents, splitCosts.left = documents, 0
	return func() { splitCosts = old }
}
