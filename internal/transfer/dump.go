package transfer

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// A Part is a collection in a dump.
type Part struct {
	Namespace
	Path string // of the file that has its documents; empty if it is a view, which has none
	SourceOptions
}

// Dump lists the collections of a dump: of an archive, of a folder of mongodump with a folder for each database, or of
// the folder of one database.
func Dump(path string) ([]Part, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return archiveParts(path)
	}
	var parts []Part
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if rel, _ := filepath.Rel(path, name); strings.Count(rel, string(filepath.Separator)) > 0 {
				return fs.SkipDir
			}
			return nil
		}
		part, ok, err := folderPart(name)
		if ok {
			parts = append(parts, part)
		}
		return err
	})
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("%s has no dump: no file in it, or in a folder in it, ends with .bson or .bson.gz", path)
	}
	return parts, err
}

func archiveParts(path string) ([]Part, error) {
	all, err := Namespaces(path)
	var parts []Part
	for _, n := range all {
		switch part := (Part{n, path, SourceOptions{Format: Archive, Namespace: n.String()}}); {
		case isSystem(n.Collection) || n.Database == "": // the oplog is in no database
		case n.holds():
			parts = append(parts, part)
		default:
			part.Path = ""
			parts = append(parts, part)
		}
	}
	return parts, err
}

// ends of the files of a collection. mongodump escapes names as in the paths of URLs, and cuts long ones off, whose
// metadata then has the whole name.
// https://github.com/mongodb/mongo-tools: common/util/file.go, EscapeCollectionName
const (
	documentsEnd = ".bson"
	metadataEnd  = ".metadata.json"
)

// folderPart is the collection whose documents a file has, or the view whose metadata it has.
func folderPart(path string) (p Part, ok bool, err error) {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	escaped, documents := strings.CutSuffix(name, documentsEnd)
	if !documents {
		if escaped, ok = strings.CutSuffix(name, metadataEnd); !ok {
			return p, false, nil
		}
	}
	collection, err := url.PathUnescape(escaped)
	if err != nil { // a long name, cut within an escaped byte: the metadata has the whole
		collection = escaped
	}
	if isSystem(collection) || name == "oplog.bson" {
		return p, false, nil
	}
	base := filepath.Join(filepath.Dir(path), escaped)
	p = Part{
		Namespace: Namespace{Database: filepath.Base(filepath.Dir(path)), Collection: collection},
		Path:      path, SourceOptions: SourceOptions{Format: BSON},
	}
	if !documents {
		if exists(base+documentsEnd) || exists(base+documentsEnd+".gz") {
			return p, false, nil // it comes with its documents
		}
		p.Path = ""
	}
	err = p.readMetadata(base + metadataEnd)
	return p, err == nil, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readMetadata reads the metadata of a collection, if there is any.
func (p *Part) readMetadata(path string) error {
	for _, name := range []string{path, path + ".gz"} {
		text, err := readSmall(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		p.Metadata = text
		var m metadata
		if json.Unmarshal([]byte(text), &m) == nil && m.CollectionName != "" {
			p.Collection = m.CollectionName
		}
		break
	}
	return nil
}

// FileOf is the file of a collection in the folder of a dump.
func FileOf(folder string, n Namespace) string {
	return filepath.Join(folder, n.Database, escapeCollection(n.Collection)+documentsEnd)
}

// isSystem reports whether a collection is one of the server's own, such as that of its users. Those of one database
// are under names of their own.
// https://github.com/mongodb/mongo-tools: mongodump/prepare.go, CreateUsersRolesVersionIntentsForDB
func isSystem(collection string) bool {
	return strings.HasPrefix(collection, "system.") || strings.HasPrefix(collection, "$admin.system.")
}

// maxMetadata is far above the size of every metadata.json.
const maxMetadata = 16 << 20

// readSmall reads a file, which may be compressed.
func readSmall(path string) (string, error) {
	f, err := openFile(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxMetadata+1))
	if err == nil && len(text) > maxMetadata {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxMetadata>>20)
	}
	return string(text), errors.Join(err, f.close())
}

// WriteMetadata writes the metadata.json that belongs to a file of BSON.
func WriteMetadata(bson, text string) error {
	packed := strings.HasSuffix(bson, ".gz")
	name := strings.TrimSuffix(strings.TrimSuffix(bson, ".gz"), documentsEnd) + metadataEnd
	if packed {
		name += ".gz"
	}
	return Replace(name, func(out io.Writer) error {
		if !packed {
			_, err := io.WriteString(out, text)
			return err
		}
		z := gzip.NewWriter(out)
		_, err := io.WriteString(z, text)
		return errors.Join(err, z.Close())
	})
}
