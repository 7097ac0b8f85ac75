package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mayflydb/mayfly/internal/transfer"
)

// An importPart is one file, or one collection of a dump, and where it goes.
type importPart struct {
	path   string
	name   string // the path as it was given, or - for the standard input, which is at path for the time of the command
	suffix string // tells the collections of one archive apart
	sum    string // of the standard input
	source transfer.SourceOptions
	to     place
	dump   *transfer.Part // nil for a file
}

// label names the part in an error.
func (p *importPart) label() string {
	if p.dump != nil {
		return p.dump.String()
	}
	return p.name
}

// seed is that of the ids that documents of the part get. Those of a dump on the standard input follow from its
// content: as there is no checkpoint, documents that get other ids when the command is repeated would be there twice.
func (p *importPart) seed() string {
	if p.dump == nil || p.sum == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p.sum + p.suffix))
	return hex.EncodeToString(sum[:8])
}

// checkpoint is the default file for the checkpoint of the part, which is at that absolute path. The collections of an
// archive have one each; their names may have slashes, and be longer than those of files.
func (p *importPart) checkpoint(absolute string) string {
	if p.source.Format == transfer.Archive {
		absolute += url.PathEscape(p.suffix)
	}
	return transfer.Beside(absolute, ".mayfly-import")
}

// parts lists what the command imports. Whatever can be wrong with that is found before the first part is imported.
func (x *importCommand) parts(ctx context.Context) (parts []importPart, err error) {
	seen := map[string]bool{}
	for _, path := range x.args {
		absolute := path
		if path != "-" {
			if _, err := os.Stat(path); err != nil {
				return nil, err
			}
			if absolute, err = filepath.Abs(path); err != nil {
				return nil, err
			}
		}
		if seen[absolute] {
			return nil, usage{fmt.Errorf("%s is there twice", path)}
		}
		seen[absolute] = true
	}
	for _, path := range x.args {
		more, err := x.partsOf(ctx, path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, more...)
	}
	return parts, nil
}

// partsOf lists one file, or the collections of a dump.
func (x *importCommand) partsOf(ctx context.Context, path string) ([]importPart, error) {
	file := importPart{path: path, name: path, source: transfer.SourceOptions{Format: x.formatOf(path)}}
	if path == "-" {
		var err error
		if file.path, file.sum, err = spool(attended{ctx, x.c.in}); err != nil {
			return nil, err
		}
		x.spooled = append(x.spooled, file.path)
	}
	info, err := os.Stat(file.path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() || file.source.Format == transfer.Archive {
		return x.collections(&file)
	}
	file.to, err = parsePlace(x.to)
	return []importPart{file}, err
}

func (x *importCommand) formatOf(path string) transfer.Format {
	if x.format != "" {
		return transfer.Format(x.format)
	}
	return transfer.FormatOf(path)
}

// spool copies the standard input to a temporary file, because an import may read its source twice.
func spool(in io.Reader) (path, sum string, err error) {
	f, err := os.CreateTemp("", "mayfly-import-*")
	if err != nil {
		return "", "", err
	}
	content := sha256.New()
	_, err = io.Copy(f, io.TeeReader(in, content))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), hex.EncodeToString(content.Sum(nil)), nil
}

// collections lists the collections of a dump.
func (x *importCommand) collections(file *importPart) (parts []importPart, err error) {
	to, one := place{db: x.to}, strings.Contains(x.to, "/")
	if one {
		if to, err = parsePlace(x.to); err != nil {
			return nil, err
		}
	}
	all, err := transfer.Dump(file.path)
	if err != nil {
		return nil, err
	}
	for _, dump := range all {
		if x.from != "" && x.from != dump.String() {
			continue
		}
		part := importPart{
			path: dump.Path, name: dump.Path, suffix: "." + dump.String(), sum: file.sum, source: dump.SourceOptions,
			to: to, dump: &dump,
		}
		if !one {
			part.to.container = dump.Collection
		}
		if file.name == "-" {
			part.name = "-"
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) == 0:
		return nil, fmt.Errorf("%s has no %s", file.name, x.from)
	case one && len(parts) > 1:
		return nil, fmt.Errorf("%s has several collections: name the one to import with --from, "+
			"or a database with --to", file.name)
	case !one && x.from == "" && (x.reject != "" || x.checkpoint != ""): // one would replace that of another
		return nil, usage{errors.New("--reject and --checkpoint are for one collection: name it with --from")}
	}
	return parts, nil
}
