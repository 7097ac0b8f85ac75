package pebble

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// Where Pebble cannot read a log, it assumes that a crash has cut the rest off, unless a later block proves
// otherwise. It does the same with the table of contents, the MANIFEST. So Pebble mistakes some damage for a shorter
// history. The functions here inspect both files before Pebble opens them: against the sizes that a clean Close has
// written (the seal), the sequence numbers of the batches, and the synced offsets in the log itself.

// sealName is the file in which a clean Close writes the names and sizes of all files.
const sealName = "SEALED"

// damaged is the damage that inspect has found.
type damaged string

func (d damaged) Error() string { return string(d) }

// inspect fails with damaged if something is missing that was durable. fresh reports that the folder has no database
// yet.
func inspect(disk vfs.FS, dir string) (fresh bool, err error) {
	names, err := disk.List(dir)
	if err != nil {
		return false, err
	}
	contents, err := atomicfs.ReadMarker(disk, dir, "manifest")
	if err != nil {
		return false, err
	}
	if contents == "" { // the first opening was interrupted
		for _, name := range names {
			if kindOf(name) != others {
				return false, damaged(
					fmt.Sprintf("the marker of the table of contents is missing, but %s exists", name),
				)
			}
		}
		return true, nil
	}
	sealed, err := checkSeal(disk, dir, contents)
	if err != nil {
		return false, err
	}
	first, last, err := readContents(disk, dir, contents, sealed)
	if err != nil {
		return false, err
	}
	next := max(last+1, firstNumber)
	numbers := logNumbers(names)
	for i, number := range numbers {
		if number < first {
			continue
		}
		if next, err = scanLog(disk, dir, number, next, sealed || i < len(numbers)-1); err != nil {
			return false, err
		}
	}
	return false, nil
}

// firstNumber is the sequence number of the first change of an empty database.
const firstNumber = 10

// logNumbers returns the numbers of the logs, oldest first.
func logNumbers(names []string) (numbers []uint64) {
	for _, name := range names {
		stem, isLog := strings.CutSuffix(name, ".log")
		if number, err := strconv.ParseUint(stem, 10, 64); isLog && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers
}

func logName(number uint64) string { return fmt.Sprintf("%06d.log", number) }

// seal writes the names and sizes of the files that a clean Close leaves.
func seal(disk vfs.FS, dir string) error {
	names, err := disk.List(dir)
	if err != nil {
		return err
	}
	sizes := map[string]int64{}
	for _, name := range names {
		if kindOf(name) == others && !strings.HasPrefix(name, "MANIFEST-") {
			continue
		}
		info, err := disk.Stat(disk.PathJoin(dir, name))
		if err != nil {
			return err
		}
		sizes[name] = info.Size()
	}
	text, err := json.Marshal(sizes)
	if err != nil {
		return err
	}
	temporary := disk.PathJoin(dir, sealName+".new")
	f, err := disk.Create(temporary, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, disk.Remove(temporary))
	}
	return errors.Join(disk.Rename(temporary, disk.PathJoin(dir, sealName)), syncDir(disk, dir))
}

// checkSeal compares the folder with the seal. sealed reports that there is a valid one. Every opening writes a new
// table of contents, so a seal without the present one is outdated: a program that does not know seals has opened the
// folder.
func checkSeal(disk vfs.FS, dir, contents string) (sealed bool, err error) {
	text, err := readFile(disk, disk.PathJoin(dir, sealName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var sizes map[string]int64
	if err != nil || json.Unmarshal(text, &sizes) != nil {
		return false, err // cut off by a crash; the other checks still apply
	}
	if _, known := sizes[contents]; !known {
		return false, nil
	}
	for name, size := range sizes {
		switch info, err := disk.Stat(disk.PathJoin(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
			return true, damaged(name + " is missing")
		case err != nil:
			return true, err
		case info.Size() != size:
			return true, damaged(
				fmt.Sprintf("%s has %d bytes, but had %d when mayfly stopped", name, info.Size(), size),
			)
		}
	}
	return true, nil
}

// breakSeal removes the seal durably, before anything else changes.
func breakSeal(disk vfs.FS, dir string) error {
	if err := disk.Remove(disk.PathJoin(dir, sealName)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return syncDir(disk, dir)
}

func syncDir(disk vfs.FS, dir string) error {
	f, err := disk.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func readFile(disk vfs.FS, name string) ([]byte, error) {
	f, err := disk.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}

// The fields of an entry of the table of contents that come before those about tables.
const (
	fieldComparer       = 1
	fieldFirstLog       = 2
	fieldNextFile       = 3
	fieldLast           = 4
	fieldPreviousLog    = 9
	fieldCreatedBacking = 105
	fieldRemovedBacking = 106
)

// readContents reads from the table of contents the number of the oldest log that is needed, and the sequence number of
// the newest change when it was last written.
func readContents(disk vfs.FS, dir, name string, sealed bool) (firstLog, last uint64, err error) {
	text, err := readFile(disk, disk.PathJoin(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, damaged("the table of contents is missing: " + name)
	}
	if err != nil {
		return 0, 0, err
	}
	reader := record.NewReader(bytes.NewReader(text), 0)
	for count := 0; ; count++ {
		begin := reader.Offset()
		edit, err := reader.Next()
		var fields []byte
		if err == nil {
			fields, err = io.ReadAll(edit)
		}
		switch {
		case errors.Is(err, io.EOF) && count > 0:
			return firstLog, last, nil
		case errors.Is(err, io.EOF), err != nil && (sealed || count == 0):
			return 0, 0, damaged(fmt.Sprintf("the table of contents %s ends after %d entries", name, count))
		case err != nil: // cut off by a crash, unless a whole entry follows
			if at := entryAfter(text, begin); at > 0 {
				return 0, 0, damaged(fmt.Sprintf("the table of contents %s is damaged before byte %d", name, at))
			}
			return firstLog, last, nil
		}
		if log, number, ok := scalars(fields); ok {
			firstLog, last = cmp.Or(log, firstLog), max(number, last)
		}
	}
}

// scalars reads the fields before those about tables.
func scalars(fields []byte) (firstLog, last uint64, ok bool) {
	next := func() (n uint64) {
		n, width := binary.Uvarint(fields)
		if ok = width > 0; ok {
			fields = fields[width:]
		}
		return n
	}
	for ok = true; ok && len(fields) > 0; {
		switch next() {
		case fieldComparer:
			n := next()
			if n > uint64(len(fields)) {
				return 0, 0, false
			}
			fields = fields[n:]
		case fieldFirstLog:
			firstLog = next()
		case fieldLast:
			return firstLog, next(), ok
		case fieldNextFile, fieldPreviousLog, fieldRemovedBacking:
			next()
		case fieldCreatedBacking:
			next()
			next()
		default:
			return firstLog, last, ok
		}
	}
	return firstLog, last, ok
}

// entryAfter finds the offset of a whole entry of the table of contents after an unreadable one at from, 0 if there is
// none. An entry is synced before the next one is written, so a whole entry proves that the one before was damaged.
func entryAfter(text []byte, from int64) int64 {
	const header = 7
	for i := from + 1; i+header <= int64(len(text)); i++ {
		kind, end := text[i+6], i+header+int64(binary.LittleEndian.Uint16(text[i+4:]))
		if (kind == 1 || kind == 2) && end > i+header && end <= int64(len(text)) &&
			sum(text[i+6:end]) == binary.LittleEndian.Uint32(text[i:]) {
			return i
		}
	}
	return 0
}

// sum is the checksum of Pebble's logs.
func sum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A log consists of blocks of 32 KiB, and a block of chunks, see package record of Pebble. A chunk has a checksum, its
// length, its kind and the number of the log. The longer form also has the offset up to which the log was synced.
const (
	blockBytesOfLog = 32 << 10
	shortHeader     = 11
	longHeader      = 19
)

// A chunk is a piece of a batch in a log.
type chunk struct {
	first   bool // it begins a batch
	end     int  // its end in its block
	synced  uint64
	payload []byte
}

// The kinds of chunks: four of each form; the first two of four begin a batch.
const (
	shortChunks = 5
	longChunks  = 9
)

// chunkAt reads the chunk at i of a block.
func chunkAt(block []byte, i int, log uint32) (c chunk, ok bool) {
	if i+shortHeader > len(block) {
		return c, false
	}
	kind, header := block[i+6], shortHeader
	if kind < shortChunks || kind >= longChunks+4 || binary.LittleEndian.Uint32(block[i+7:]) != log {
		return c, false
	}
	if kind >= longChunks {
		header = longHeader
	}
	c.end = i + header + int(binary.LittleEndian.Uint16(block[i+4:]))
	if c.end > len(block) || i+header > c.end || sum(block[i+6:c.end]) != binary.LittleEndian.Uint32(block[i:]) {
		return c, false
	}
	if header == longHeader {
		c.synced = binary.LittleEndian.Uint64(block[i+11:])
	}
	c.first = (kind-shortChunks)%4 < 2
	c.payload = block[i+header : c.end]
	return c, true
}

// ended reports whether the log was closed at offset i of a block, or the block has no more chunks after it.
func ended(block []byte, i int, log uint32) (closed, blockOver bool) {
	if i+shortHeader <= len(block) && block[i+6] == shortChunks && binary.LittleEndian.Uint32(block[i+7:]) == log+1 {
		return true, false
	}
	rest := block[min(i, len(block)):]
	return false, len(rest) < longHeader && len(bytes.Trim(rest, "\x00")) == 0
}

// scanLog reads a log and returns the sequence number after its last batch. Its first batch must have a number of at
// most next, otherwise one is missing. whole says that the log was closed, so that it must have an end.
func scanLog(disk vfs.FS, dir string, number, next uint64, whole bool) (uint64, error) {
	name := logName(number)
	f, err := disk.Open(disk.PathJoin(dir, name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var (
		log   = uint32(number)
		block = make([]byte, blockBytesOfLog)
		bad   = int64(-1) // the offset of the first unreadable chunk
	)
	for at := int64(0); ; at += blockBytesOfLog {
		n, err := io.ReadFull(f, block)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return 0, err
		}
		part := block[:n]
		for i := 0; i < n; {
			c, ok := chunkAt(part, i, log)
			if bad >= 0 { // search for a later chunk that proves that bad was synced
				if !ok {
					i++
					continue
				}
				if int64(c.synced) > bad {
					return 0, damaged(fmt.Sprintf("%s is damaged at byte %d, and continues after it", name, bad))
				}
				i = c.end
				continue
			}
			if ok {
				if next, err = follows(name, c, next); err != nil {
					return 0, err
				}
				i = c.end
				continue
			}
			closed, over := ended(part, i, log)
			if closed {
				return next, nil
			}
			if over {
				break
			}
			bad = at + int64(i)
		}
		if n < blockBytesOfLog {
			break
		}
	}
	if whole && bad >= 0 {
		return 0, damaged(fmt.Sprintf("%s is damaged at byte %d, before its end", name, bad))
	}
	return next, nil
}

// follows checks that no batch is missing before the one that a chunk begins, and returns the sequence number after it.
func follows(name string, c chunk, next uint64) (uint64, error) {
	const header = 12 // number of the first change, and how many there are
	if !c.first {
		return next, nil
	}
	if len(c.payload) < header { // the rest is in the next block
		return anyNumber, nil
	}
	number := binary.LittleEndian.Uint64(c.payload)
	count := uint64(binary.LittleEndian.Uint32(c.payload[8:]))
	if number > next && next != anyNumber {
		return 0, damaged(
			fmt.Sprintf("changes %d to %d are missing before those in %s", next, number-1, path.Base(name)),
		)
	}
	return max(next, number+count), nil
}

// anyNumber is the number that follows a batch whose own number is not known.
const anyNumber = 0
