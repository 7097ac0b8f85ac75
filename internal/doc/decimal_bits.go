package doc

import "math/bits"

// A uint128 is a coefficient of a Decimal.
type uint128 struct{ hi, lo uint64 }

// powersOf10 are the powers of 10 up to the limit of a coefficient.
var powersOf10 = func() (p [decimalDigits + 1]uint128) {
	p[0].lo = 1
	for i := 1; i < len(p); i++ {
		p[i].hi, p[i].lo = bits.Mul64(p[i-1].lo, 10)
		p[i].hi += p[i-1].hi * 10
	}
	return p
}()

func less128(hi, lo uint64, than uint128) bool {
	return hi < than.hi || hi == than.hi && lo < than.lo
}

// digits128 counts decimal digits, at most 34; zero has no digits.
func digits128(hi, lo uint64) int {
	n := (bits.Len64(lo)*1233 + 4095) >> 12 // 1233/4096 is a little more than log 2
	if hi != 0 {
		n = ((bits.Len64(hi)+64)*1233 + 4095) >> 12
	}
	n = min(n, decimalDigits)
	for n > 0 && less128(hi, lo, powersOf10[n-1]) {
		n--
	}
	return n
}

func divide128(hi, lo, by uint64) (qhi, qlo, rest uint64) {
	qhi, rest = hi/by, hi%by
	qlo, rest = bits.Div64(rest, lo, by)
	return qhi, qlo, rest
}

func zeros128(hi, lo uint64) int {
	if lo == 0 {
		return 64 + bits.TrailingZeros64(hi)
	}
	return bits.TrailingZeros64(lo)
}

func shift128(hi, lo uint64, n int) (uint64, uint64) {
	if n >= 64 {
		return 0, hi >> (n - 64)
	}
	return hi >> n, lo>>n | hi<<(64-n)
}
