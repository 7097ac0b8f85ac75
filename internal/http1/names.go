package http1

import (
	"net/textproto"
	"sync/atomic"
)

// names remembers the canonical forms of header names, so that the names that clients send again and again cost no
// allocation. Its size is fixed: two names of one slot replace each other.
type names [256]atomic.Pointer[spelling]

type spelling struct{ sent, canonical string }

// canonical returns the canonical form of a valid name, as net/http has it: X-Ms-Date for x-ms-date.
func (n *names) canonical(name []byte) string {
	h := uint(len(name))
	for _, c := range name {
		h = h*31 + uint(c)
	}
	slot := &n[h%uint(len(n))]
	if s := slot.Load(); s != nil && s.sent == string(name) {
		return s.canonical
	}
	s := &spelling{sent: string(name)}
	s.canonical = textproto.CanonicalMIMEHeaderKey(s.sent)
	if len(name) <= maxName {
		slot.Store(s)
	}
	return s.canonical
}

// maxName is the length of the longest name that is remembered, in bytes.
const maxName = 64
