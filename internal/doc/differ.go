package doc

import "bytes"

// Differences calls use for each member in which two documents differ, with its values before and after; the zero Value
// stands for none. It goes through both side by side. So from the first member on that has another name in the other
// document, all differ, and those of before come first.
func Differences(before, after Doc, use func(name string, old, fresh Value)) {
	b, a := body(before), body(after)
	for len(b) > 0 && len(a) > 0 {
		at, end := measure(b)
		if end == 0 {
			break
		}
		if len(a) >= end && bytes.Equal(b[:end], a[:end]) { // the bytes of an element say where it ends
			b, a = b[end:], a[end:]
			continue
		}
		here, until := measure(a)
		if until == 0 || !bytes.Equal(b[1:at], a[1:here]) {
			break
		}
		use(view(b[1:at-1]), valueIn(b, at, end), valueIn(a, here, until))
		b, a = b[end:], a[until:]
	}
	for at, end := measure(b); end > 0; at, end = measure(b) {
		use(view(b[1:at-1]), valueIn(b, at, end), Value{})
		b = b[end:]
	}
	for at, end := measure(a); end > 0; at, end = measure(a) {
		use(view(a[1:at-1]), Value{}, valueIn(a, at, end))
		a = a[end:]
	}
}
