package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A LineReader reads lines of limited length.
type LineReader struct {
	in   *bufio.Reader
	long []byte // a line that is longer than the buffer
	most int

	// Grow, if not nil, is asked before a line that is longer than the buffer takes so many more bytes of memory. Its
	// error is that of Next.
	Grow func(bytes int) error
}

// keptLine is the memory that a reader keeps for the next long line.
const keptLine = 1 << 20

// NewLineReader reads lines of at most so many bytes.
func NewLineReader(in io.Reader, most int) *LineReader {
	return &LineReader{in: bufio.NewReaderSize(in, 256<<10), most: most}
}

// Next gives the next line without its end, valid until the next call, and how many bytes it took from the reader.
// tooLong reports a line over the limit, which is passed over and given as nil. At the end the error is io.EOF.
func (l *LineReader) Next() (line []byte, size int64, tooLong bool, err error) {
	if l.long = l.long[:0]; cap(l.long) > keptLine {
		l.long = nil
	}
	for {
		part, err := l.in.ReadSlice('\n')
		size += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !tooLong {
				if err := l.grow(len(part)); err != nil {
					return nil, size, false, err
				}
				l.long = append(l.long, part...)
			}
			if len(l.long) > l.most {
				tooLong, l.long = true, nil
			}
			continue
		case err != nil && err != io.EOF, err == io.EOF && size == 0:
			return nil, size, false, err
		}
		if tooLong {
			return nil, size, true, nil
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		if len(part) > l.most+1 {
			return nil, size, true, nil
		}
		return bytes.TrimRight(part, "\r\n"), size, false, nil
	}
}

func (l *LineReader) grow(bytes int) error {
	if l.Grow == nil {
		return nil
	}
	return l.Grow(bytes)
}
