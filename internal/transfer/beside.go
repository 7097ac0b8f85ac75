package transfer

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"strings"
)

// besideBytes is the most bytes of the name of a file that others have beside them under longer names. File systems
// have names of 255 bytes.
const besideBytes = 200

// Beside is the name of a file beside another one: that file's name with this end. A long name is cut, and has a hash.
func Beside(path, end string) string {
	dir, name := filepath.Split(path)
	if len(name) > besideBytes {
		sum := sha256.Sum256([]byte(name))
		name = strings.ToValidUTF8(name[:besideBytes-20], "") + "." + hex.EncodeToString(sum[:8])
	}
	return dir + name + end
}

// The bytes of names in mongodump: a longer name is cut, and has a hash behind an escaped $, so that the file's whole
// name fits.
// https://github.com/mongodb/mongo-tools: mongodump/prepare.go, outputPath
const (
	escapedBytes = 238
	cutBytes     = 208
)

// escapeCollection is the name of the files of a collection in a dump, without their ends.
func escapeCollection(name string) string {
	escaped := url.PathEscape(name)
	if len(escaped) <= escapedBytes {
		return escaped
	}
	sum := sha1.Sum([]byte(name))
	return escaped[:cutBytes] + "%24" + base64.RawURLEncoding.EncodeToString(sum[:])
}
