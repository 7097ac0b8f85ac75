package binaryjson

import (
	"fmt"
	"unicode/utf8"
)

// string reads a string whose marker is known. It belongs to the body or to the reader, until the next one is read.
func (r *reader) string(marker byte) ([]byte, error) {
	if marker >= reference1 && marker <= reference4 {
		return r.reference(marker)
	}
	return r.literal(marker)
}

// literal reads a string that is not a reference.
func (r *reader) literal(marker byte) ([]byte, error) {
	start := r.at - 1
	switch {
	case marker < user:
		text := systemStrings[marker-system]
		r.text = append(r.text[:0], text...)
		return r.text, r.spend(len(text) + len(`""`))
	case marker < userEnd:
		return nil, r.fail(start, "There is a string of a dictionary outside the body")
	case marker < guidLower:
		return r.base64(marker)
	case marker < hexLower:
		return r.guidText(marker)
	case marker < sized:
		return r.packed(marker)
	}
	size := int(marker - sized)
	if marker >= string1 {
		var err error
		if size, err = r.size(1 << (marker - string1)); err != nil {
			return nil, err
		}
	}
	text, err := r.take(size)
	if err != nil {
		return nil, err
	}
	if err := r.spend(size + len(`""`)); err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, r.fail(start, "There is invalid UTF-8 in the string")
	}
	return text, nil
}

// reference reads an earlier string of the body. That string must end before the reference and must not be a
// reference itself.
func (r *reader) reference(marker byte) ([]byte, error) {
	start := r.at - 1
	target, err := r.size(1 + int(marker-reference1))
	if err != nil {
		return nil, err
	}
	if target > 0 && target < start && isString(r.body[target]) && r.body[target] < reference1 {
		at, end := r.at, r.end
		r.at, r.end = target+1, start
		text, err := r.literal(r.body[target])
		r.at, r.end = at, end
		if err == nil || r.left < 0 {
			return text, err
		}
	}
	return nil, r.fail(start, fmt.Sprintf("There is a reference to byte %d, where no complete earlier string begins",
		target))
}
