package doc

import "bytes"

// Differences calls use for each member in which two documents differ, with its values before and after; the zero Value
// stands for none. It goes through both side by side. Where the names differ, the member of before is gone; if it comes
// later, it is new there. It ends when use returns false.
func Differences(before, after Doc, use func(name string, old, fresh Value) bool) {
	b, a := body(before), body(after)
	for len(b) > 0 && len(a) > 0 {
		at, end := measure(b)
		if end == 0 {
			break
		}
		if startsWith(a, b[:end]) {
			b, a = b[end:], a[end:]
			continue
		}
		here, until := measure(a)
		if until == 0 {
			break
		}
		var fresh Value
		rest := a
		if bytes.Equal(b[1:at], a[1:here]) {
			fresh, rest = valueIn(a, here, until), a[until:]
		}
		if !use(view(b[1:at-1]), valueIn(b, at, end), fresh) {
			return
		}
		b, a = b[end:], rest
	}
	for at, end := measure(b); end > 0; at, end = measure(b) {
		if !use(view(b[1:at-1]), valueIn(b, at, end), Value{}) {
			return
		}
		b = b[end:]
	}
	for at, end := measure(a); end > 0; at, end = measure(a) {
		if !use(view(a[1:at-1]), Value{}, valueIn(a, at, end)) {
			return
		}
		a = a[end:]
	}
}

// ElementDifferences is Differences for two arrays, whose elements are told by their place.
func ElementDifferences(before, after Value, use func(i int, old, fresh Value) bool) {
	b, a := body(before.Data), body(after.Data)
	for i := 0; ; i++ {
		at, end := measure(b)
		if end > 0 && startsWith(a, b[:end]) {
			b, a = b[end:], a[end:]
			continue
		}
		here, until := measure(a)
		var old, fresh Value
		if end > 0 {
			old = valueIn(b, at, end)
		}
		if until > 0 {
			fresh = valueIn(a, here, until)
		}
		if end == 0 && until == 0 || !old.Equal(fresh) && !use(i, old, fresh) {
			return
		}
		b, a = b[end:], a[until:]
	}
}

// startsWith reports whether elements begin with one. Its bytes say where it ends.
func startsWith(elements, one []byte) bool {
	return len(elements) >= len(one) && string(elements[:len(one)]) == string(one)
}
