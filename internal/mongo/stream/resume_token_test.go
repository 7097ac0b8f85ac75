package stream

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestResumeTokensAreOrdered(t *testing.T) {
	t.Parallel()
	list := []token{
		{0, behind}, {1, ofEvent}, {1, ofInvalidate}, {1, behind}, {2, ofEvent}, {255, behind}, {256, ofEvent},
		{1<<32 + 1, ofEvent}, {1<<32 + 2, ofEvent}, {1 << 63, ofEvent}, {1<<64 - 1, behind},
	}
	for i, x := range list {
		if i > 0 && list[i-1].String() >= x.String() {
			t.Errorf("%v is not before %v", list[i-1], x)
		}
		if got, err := parseToken("resumeAfter", doc.Object(x.document())); err != nil || got != x {
			t.Errorf("%v becomes %v, %v", x, got, err)
		}
	}
}

func FuzzResumeToken(f *testing.F) {
	for _, s := range []string{"", "9", "91000000000000000140", "9100000000000000014", "zz", "8263A1B2C3",
		"910000000000000001c0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := parseToken("startAfter",
			doc.Object(doc.Doc(bsoncore.NewDocumentBuilder().AppendString("_data", s).Build())))
		if err != nil {
			return
		}
		if y, err := parseToken("startAfter", doc.Object(x.document())); err != nil || x != y {
			t.Errorf("%v becomes %v, %v", x, y, err)
		}
	})
}
