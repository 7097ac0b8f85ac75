package doc

import "strconv"

// ElementIndex reads a step of a dotted path as the index of an array element: digits only, no sign, no leading zero.
func ElementIndex(step string) (int, bool) {
	if step == "" || step[0] < '0' || step[0] > '9' {
		return 0, false // for these Atoi would allocate an error
	}
	n, err := strconv.Atoi(step)
	return n, err == nil && strconv.Itoa(n) == step
}
