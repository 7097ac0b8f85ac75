package rest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestServiceTexts translates each fault of the packages below, wrapped or not: the kind stays, the text is the
// service's, and the fault remains its cause.
func TestServiceTexts(t *testing.T) {
	for _, x := range serviceTexts {
		for _, err := range []error{x.of, coded{fmt.Errorf("wrapped: %w", x.of), 7}} {
			got := inServiceTexts(err)
			if fault.KindOf(got) != fault.KindOf(x.of) || fault.Message(got) != fault.Message(x.says) ||
				!errors.Is(got, x.of) {
				t.Errorf("%v becomes %v of kind %s", err, got, fault.KindOf(got))
			}
			if c, ok := errors.AsType[coded](err); ok && translate(got).substatus != c.substatus {
				t.Errorf("%v loses its substatus", err)
			}
		}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&expiry.BadTTL{Value: "0"},
			"The input ttl '0' is invalid. Ensure to provide a nonzero positive integer less than or equal to " +
				"'2147483647', or '-1' which means never expire. Leave ttl out to take the container's default."},
		{&expiry.BadTTL{Default: true, Value: `"x"`},
			"The input defaultTtl '\"x\"' is invalid. Ensure to provide a nonzero positive integer less than or " +
				"equal to '2147483647', or '-1' which means never expire. Leave defaultTtl out to switch expiry off."},
		{&expiry.BadTTL{Value: "2147483648", TooLong: true},
			"The input ttl '2147483648' is invalid. Ensure to provide a nonzero positive integer less than or equal to " +
				"'2147483647', or '-1' which means never expire. It counts seconds, not milliseconds."},
		{&store.NoID{Member: "id"},
			"The input content is invalid because the required properties - 'id; ' - are missing. An id is a string " +
				"of 1 to 1023 bytes."},
	} {
		if got := inServiceTexts(c.err); fault.KindOf(got) != fault.Invalid || fault.Message(got) != c.want {
			t.Errorf("%v becomes %v", c.err, got)
		}
	}
}
