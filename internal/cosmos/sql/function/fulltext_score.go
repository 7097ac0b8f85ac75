package function

import "math"

// The constants of BM25 and of reciprocal rank fusion. Those of BM25 are the
// usual ones, as the service does not tell its own; 60 is that of its clients.
const (
	bm25K1       = 1.2
	bm25B        = 0.75
	rankConstant = 60
)

// Statistics are what the score of one text depends on besides that text.
type Statistics struct {
	Documents float64   // how many there are
	Words     float64   // in all of them together
	Hits      []float64 // for each term, in how many documents it occurs
}

// Add counts one more document, of which Search.Look has told words and hits.
func (s *Statistics) Add(words int, hits []int) {
	s.Documents++
	s.Words += float64(words)
	if s.Hits == nil {
		s.Hits = make([]float64, len(hits))
	}
	for i, n := range hits {
		if n > 0 {
			s.Hits[i]++
		}
	}
}

// BM25 is the score of a document, of which Search.Look has told words and
// hits: 0 if no term is in it. Terms that Hits has no place for do not count.
func (s *Statistics) BM25(words int, hits []int) float64 {
	long := 1.0 // compared with the average
	if s.Documents > 0 && s.Words > 0 {
		long = float64(words) / (s.Words / s.Documents)
	}
	score := 0.0
	for i, n := range hits[:min(len(hits), len(s.Hits))] {
		if n == 0 {
			continue
		}
		with := min(max(s.Hits[i], 0), s.Documents)
		rare := math.Log(1 + (s.Documents-with+0.5)/(with+0.5))
		often := float64(n) * (bm25K1 + 1) / (float64(n) + bm25K1*(1-bm25B+bm25B*long))
		score += rare * often
	}
	return score
}

// ReciprocalRank is the fused score of a document that has these ranks, the best
// being 1, in several orders. Weights may be nil, which is 1 for each.
func ReciprocalRank(ranks []int, weights []float64) float64 {
	score := 0.0
	for i, rank := range ranks {
		weight := 1.0
		if i < len(weights) {
			weight = weights[i]
		}
		score += weight / float64(rankConstant+rank)
	}
	return score
}
