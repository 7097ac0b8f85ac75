package copying

import (
	"encoding/json"
	"math"
	"strconv"
)

const (
	never  = -1
	maxTTL = 1<<31 - 1
)

// A lifetime is the policy of a NoSQL container.
type lifetime struct {
	DefaultTTL *int64 `json:"defaultTtl"`
	// Path is the obsolete property from which lives count.
	Path string `json:"ttlPropertyPath"`
}

func (l lifetime) on() bool { return l.DefaultTTL != nil }

func (l lifetime) equal(m lifetime) bool {
	return l.Path == m.Path && l.on() == m.on() && (!l.on() || *l.DefaultTTL == *m.DefaultTTL)
}

// end is when the life of an item ends that was written at its stamp; limited is false if it does not.
func (l lifetime) end(i item) (at int64, limited bool) {
	ttl := l.ttl(i)
	if ttl == never {
		return 0, false
	}
	if at, ok := l.property(i); ok {
		return at + ttl, true
	}
	return i.stamp + ttl, true
}

// property is the second from which the life of an item counts if that is in the item, so that equal items end at the
// same time wherever they are. An item that lacks the property, or has no number there, counts from its stamp.
func (l lifetime) property(i item) (second int64, ok bool) {
	if l.Path == "" {
		return 0, false
	}
	text, err := i.at(l.Path)
	if err != nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// ttl is the life span of an item.
func (l lifetime) ttl(i item) int64 {
	if !l.on() {
		return never
	}
	if own, ok := i.ttl(); ok {
		return own
	}
	return *l.DefaultTTL
}

// lasting is the item with the life span that it needs in a container, changed only if it has another one there.
func (l lifetime) lasting(i item, ttl int64) item {
	if l.ttl(i) == ttl {
		return i
	}
	return i.with("ttl", json.RawMessage(strconv.FormatInt(min(ttl, maxTTL), 10)))
}
