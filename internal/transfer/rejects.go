package transfer

import (
	"encoding/json"
	"errors"
	"os"
)

// A reject is a document that was not written, as the file of rejects has it.
type reject struct {
	Line   int64  `json:"line"` // number in the source
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// rejects is the file of them; nil for none.
type rejects struct {
	file *os.File
	size int64
}

// openRejects opens the file behind what an interrupted run had noted.
func openRejects(path string, size int64) (*rejects, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &rejects{file: f, size: size}, nil
}

// add writes rejects, and returns the size of the file.
func (r *rejects) add(list []reject) (int64, error) {
	if r == nil || len(list) == 0 {
		return r.bytes(), nil
	}
	var text []byte
	for i := range list {
		line, err := json.Marshal(&list[i])
		if err != nil {
			return r.size, err
		}
		text = append(append(text, line...), '\n')
	}
	n, err := r.file.WriteAt(text, r.size)
	if err == nil {
		err = r.file.Sync()
	}
	r.size += int64(n)
	return r.size, err
}

func (r *rejects) bytes() int64 {
	if r == nil {
		return 0
	}
	return r.size
}

func (r *rejects) close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}
