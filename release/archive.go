package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// An entry is one file of an archive, and where its content is.
type entry struct {
	name, source string
	mode         fs.FileMode
}

// writeArchives packs the binary of each platform with what belongs to it.
func (r *release) writeArchives(context.Context) error {
	for _, p := range r.platforms {
		entries, err := r.contents(p)
		if err != nil {
			return err
		}
		name, pack := "mayfly_"+r.version+"_"+p.String(), writeTarGz
		if p.system == "windows" {
			name, pack = name+".zip", writeZip
		} else {
			name += ".tar.gz"
		}
		if err := writeFile(filepath.Join(r.out, name), func(w io.Writer) error {
			return pack(w, entries, r.date)
		}); err != nil {
			return err
		}
	}
	return nil
}

// contents are the files of an archive.
func (r *release) contents(p platform) ([]entry, error) {
	found := []entry{
		{p.program(), r.binary(p), 0o755},
		{"LICENSE", filepath.Join(r.root, "LICENSE"), 0o644},
		{"README.md", filepath.Join(r.root, "README.md"), 0o644},
	}
	for _, dir := range []string{"completions", "man"} {
		files, err := os.ReadDir(filepath.Join(r.work, dir)) // sorted
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			found = append(found, entry{dir + "/" + f.Name(), filepath.Join(r.work, dir, f.Name()), 0o644})
		}
	}
	return found, nil
}

func writeTarGz(w io.Writer, entries []entry, date time.Time) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, e := range entries {
		content, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(content)), ModTime: date,
			Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return packed.Close()
}

func writeZip(w io.Writer, entries []entry, date time.Time) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		content, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := zip.FileHeader{Name: e.name, Modified: date, Method: zip.Deflate}
		header.SetMode(e.mode)
		file, err := archive.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := file.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeFile makes a file of what write writes.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
