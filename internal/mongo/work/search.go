package work

import "strings"

// pieceBytes is how many bytes of a large text are handled between two calls of Spend.
const pieceBytes = 64 << 10

// Pieces calls do with one piece of the text after another and the offset of the piece, until do returns false.
func (m *Meter) Pieces(text string, do func(piece string, at int) (more bool)) error {
	for at := 0; ; at += pieceBytes {
		piece := text[at:min(at+pieceBytes, len(text))]
		if err := m.Spend(Scanned(len(piece))); err != nil {
			return err
		}
		if !do(piece, at) || at+pieceBytes >= len(text) {
			return nil
		}
	}
}

// Package strings is fast for any token of up to shortToken bytes and in any text of up to shortText bytes. Beyond both
// limits its time may grow with the product of the lengths.
const (
	shortToken = 64
	shortText  = 4 << 10
)

// Index is strings.Index in time that is linear in the lengths of both texts.
func (m *Meter) Index(text, token string) (int, error) {
	switch {
	case len(token) > shortToken && len(text) > shortText:
		return m.indexLong(text, token)
	case len(text) <= shortText:
		return strings.Index(text, token), m.Spend(Operator + Copied(len(text)))
	}
	for at := 0; ; at += pieceBytes {
		piece := text[at:min(at+pieceBytes+len(token)-1, len(text))]
		if err := m.Spend(Copied(len(piece)) * 4); err != nil {
			return 0, err
		}
		if i := strings.Index(piece, token); i >= 0 {
			return at + i, nil
		}
		if at+pieceBytes >= len(text) {
			return -1, nil
		}
	}
}

// indexLong is the two-way algorithm of Crochemore and Perrin: "Two-way string-matching", Journal of the ACM 38 (1991).
// It needs no memory. The token is cut in two such that after a mismatch in the right part the search continues behind
// the mismatch, and after a mismatch in the left part it advances by a period of the token.
func (m *Meter) indexLong(text, token string) (int, error) {
	cut, period, err := m.cut(token)
	if err != nil {
		return 0, err
	}
	periodic := strings.HasPrefix(token[period:], token[:cut])
	if !periodic {
		period = max(cut, len(token)-cut) + 1
	}
	known := 0 // how many bytes of the token are known to match at the next position
	for at := 0; at+len(token) <= len(text); {
		i := max(cut, known)
		from := i
		for i < len(token) && token[i] == text[at+i] {
			i++
		}
		if err := m.Spend(1 + Scanned(i-from)); err != nil {
			return 0, err
		}
		if i < len(token) {
			at += i - cut + 1
			known = 0
			continue
		}
		i = cut
		for i > known && token[i-1] == text[at+i-1] {
			i--
		}
		if err := m.Spend(1 + Scanned(cut-i)); err != nil {
			return 0, err
		}
		if i <= known {
			return at, nil
		}
		at += period
		if periodic {
			known = len(token) - period
		}
	}
	return -1, nil
}

// cut returns where to cut the token in two, and the period of the right part.
func (m *Meter) cut(token string) (at, period int, err error) {
	at, period, err = m.greatestSuffix(token, false)
	if err != nil {
		return 0, 0, err
	}
	other, itsPeriod, err := m.greatestSuffix(token, true)
	if other > at {
		at, period = other, itsPeriod
	}
	return at, period, err
}

// greatestSuffix returns where the greatest suffix of a token begins, in byte order or in the reverse of it, and the
// period of that suffix.
func (m *Meter) greatestSuffix(token string, reverse bool) (at, period int, err error) {
	begin, next, k := -1, 0, 1
	period = 1
	for steps := 1; next+k < len(token); steps++ {
		a, b := token[next+k], token[begin+k]
		if reverse {
			a, b = b, a
		}
		switch {
		case a < b:
			next += k
			k, period = 1, next-begin
		case a > b:
			begin = next
			next, k, period = begin+1, 1, 1
		case k == period:
			next += period
			k = 1
		default:
			k++
		}
		if steps%pieceBytes == 0 {
			if err := m.Spend(Scanned(2 * pieceBytes)); err != nil {
				return 0, 0, err
			}
		}
	}
	return begin + 1, period, nil
}
