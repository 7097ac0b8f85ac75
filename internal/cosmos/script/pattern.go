package script

import (
	"time"

	"github.com/dlclark/regexp2/v2"
)

// maxMatch ends matches of regular expressions that track back for ever. The engine
// takes such a match for none, so the time is longer than any script has: who runs
// into it is ended before it can believe that.
const maxMatch = 15 * time.Second

// The engine compiles patterns itself, and leaves their limit at the default.
func init() { regexp2.DefaultMatchTimeout = maxMatch }
