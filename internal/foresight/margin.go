package foresight

import "math"

// A sampling is what an estimate rests on.
type sampling struct {
	stored  uint64 // documents that the sample stands for
	sampled uint64 // documents that were looked at
	runs    uint64 // runs of neighbours in which they were
}

// confidence is the quantile of the normal distribution for 95 of 100.
const confidence = 1.96

// margin is how far an estimate may be off: in 95 of 100 samples, the true number of documents is within it. seen is
// how many of the sample were counted.
//
// Neighbours are alike, so a run counts as one observation. The interval is the adjusted one of Agresti and Coull
// (The American Statistician 52, 1998), which also holds for what the sample has not met at all. That the runs are
// spread evenly, which makes estimates better, is left out of account.
func (s sampling) margin(seen uint64) uint64 {
	if s.runs == 0 || s.sampled == 0 {
		return s.stored
	}
	runs, part := float64(s.runs), float64(seen)/float64(s.sampled)
	adjusted := (part*runs + 2) / (runs + 4)
	half := confidence*math.Sqrt(adjusted*(1-adjusted)/(runs+4)) + math.Abs(adjusted-part)
	return min(s.stored, uint64(math.Ceil(half*float64(s.stored))))
}

// together is the margin of a sum of estimates that have nothing to do with each other.
func together(a, b uint64) uint64 { return uint64(math.Ceil(math.Hypot(float64(a), float64(b)))) }
