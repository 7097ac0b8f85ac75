package function

import "math"

// Constants of BM25 and of reciprocal rank fusion. Those of BM25 are the usual ones, because the service does not
// publish its own; 60 is that of its clients.
const (
	bm25K1       = 1.2
	bm25B        = 0.75
	rankConstant = 60
)

// Statistics are what the score of one text depends on in addition to that text.
type Statistics struct {
	Documents float64   // number of documents
	Words     float64   // number of words in all documents
	Hits      []float64 // for each term, the number of documents with it
}

// Add adds one document, with words and hits from Search.Look.
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

// BM25 is the score of a document, with words and hits from Search.Look. It is 0 if the document has no term. Terms
// beyond the length of Hits do not count.
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

// ReciprocalRank is the fused score of a document with these ranks in several orders. The best rank is 1. Without
// weights, each counts 1.
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
