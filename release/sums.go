package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// sumsFile lists the checksums of all others, in the form of `sha256sum --check`.
const sumsFile = "SHA256SUMS"

func (r *release) writeSums(context.Context) error {
	files, err := os.ReadDir(r.out) // sorted
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.out, sumsFile), func(w io.Writer) error {
		for _, f := range files {
			if f.Name() == sumsFile {
				continue
			}
			content, err := os.ReadFile(filepath.Join(r.out, f.Name()))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(content), f.Name()); err != nil {
				return err
			}
		}
		return nil
	})
}
