package rest

import "github.com/mayflydb/mayfly/internal/catalog"

// ItemNumber is the number in the store of the item that has this _rid; false if no item of the container can have it.
func ItemNumber(c *catalog.Container, text string) (uint64, bool) {
	r, ok := parseRID(text)
	ok = ok && r == documentRID.in(c, r.number) && r.number != 0
	return r.number, ok
}
