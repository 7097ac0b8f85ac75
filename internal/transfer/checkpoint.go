package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// loadCheckpoint reads what an interrupted run has left; false if there is nothing.
func loadCheckpoint(path string, into any) (bool, error) {
	if path == "" {
		return false, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return false, fmt.Errorf("%s is no checkpoint that can be read: delete it to start anew: %w", path, err)
	}
	return true, nil
}

// saveCheckpoint replaces the checkpoint. It is on the disk when saveCheckpoint returns: a chunk that is sent before
// its checkpoint is durable could be written twice.
func saveCheckpoint(path string, state any) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// DropCheckpoint removes a checkpoint, if it is there.
func DropCheckpoint(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
