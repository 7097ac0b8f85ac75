package main

import (
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/transfer"
)

// A pass of an import is shown when it takes longer than a moment, in bytes if the size of the source is known.
func TestTransferProgress(t *testing.T) {
	show := func(after time.Duration, states ...transfer.Status) string {
		var out strings.Builder
		p := newTransferProgress(&out, "import x")
		p.after = after
		for _, s := range states {
			p.Update(s)
		}
		p.close()
		return out.String()
	}
	sorting := transfer.Status{Sorting: true, Rows: 1500, Bytes: 2048, Total: 4096}
	sending := transfer.Status{Rows: 1000, Bytes: 1024, Total: 4096}
	if got := show(time.Hour, sorting, sending); got != "" {
		t.Errorf("short work writes %q", got)
	}
	lines := strings.Split(show(0, sorting, sending), "\n")
	if len(lines) != 3 || lines[0] != "import x, reading the stamps: 2 KiB of 4 KiB (50%)" ||
		lines[1] != "import x: 1 KiB of 4 KiB (25%)" {
		t.Errorf("%q", lines)
	}
	if got := show(0, transfer.Status{Rows: 1000}); got != "import x: 1,000 documents\n" {
		t.Errorf("without a size: %q", got)
	}
}
