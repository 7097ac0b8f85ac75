package remote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLine is the longest line of a stream: the largest document, 16 MiB, as extended JSON.
const maxLine = 64 << 20

// lines yields the lines of a stream without their ends.
func lines(in io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, maxLine)
		for scan.Scan() {
			if !yield(scan.Bytes(), nil) {
				return
			}
		}
		if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(nil, fmt.Errorf("a line of the answer is longer than %d MiB", maxLine>>20))
		} else if err != nil {
			yield(nil, fmt.Errorf("the answer breaks off: %w", err))
		}
	}
}
