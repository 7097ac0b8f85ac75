package expression

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Limits of constants that are computed when an expression is compiled, see fold.
const (
	maxFolded     = 16 << 10 // bytes
	maxFoldedCost = 1 << 12  // units of work, of one constant
)

// errFolding says that an expression is too large to fold, so that it stays as it is. Clients never see it.
var errFolding = code.New(code.InternalError, "too large to fold")

func tooLong() error { return errFolding }

const (
	maxArenaBytes  = 4 * MaxResultBytes // of all values of one evaluation
	keptArenaBytes = 1 << 20            // of an arena, from one document to the next
	keptSpareBytes = 1 << 20            // of a builder, from one value to the next
	keptStack      = 1 << 14            // values on the stack, from one document to the next

	// maxHeldBytes limits the arena and the values under construction together. It allows for buffers whose capacity
	// exceeds their length.
	maxHeldBytes = 2 * maxArenaBytes
	holdStep     = 64 << 10 // changes of this size and more are reported to Hold
	valueBytes   = 32       // of a value on the stack
)

var (
	null       = doc.Value{Type: bsoncore.TypeNull}
	trueValue  = doc.Value{Type: bsoncore.TypeBoolean, Data: []byte{1}}
	falseValue = doc.Value{Type: bsoncore.TypeBoolean, Data: []byte{0}}
)

// boolean is true or false, without an allocation.
func boolean(b bool) doc.Value {
	if b {
		return trueValue
	}
	return falseValue
}

// value is the end of the arena, from byte start on, as a value. Constructors append to s.arena and then call it.
func (s *Scope) value(kind bsoncore.Type, start int) doc.Value {
	end := len(s.arena)
	return doc.Value{Type: kind, Data: s.arena[start:end:end]}
}

// int32 makes a 32-bit integer.
func (s *Scope) int32(i int32) doc.Value {
	start := len(s.arena)
	s.arena = binary.LittleEndian.AppendUint32(s.arena, uint32(i))
	return s.value(bsoncore.TypeInt32, start)
}

func (s *Scope) word(kind bsoncore.Type, w uint64) doc.Value {
	start := len(s.arena)
	s.arena = binary.LittleEndian.AppendUint64(s.arena, w)
	return s.value(kind, start)
}

// int64 makes a 64-bit integer.
func (s *Scope) int64(i int64) doc.Value { return s.word(bsoncore.TypeInt64, uint64(i)) }

// double makes a double as it is: NaN, infinities and -0 included.
func (s *Scope) double(f float64) doc.Value { return s.word(bsoncore.TypeDouble, math.Float64bits(f)) }

// date makes a date from milliseconds since the Unix epoch.
func (s *Scope) date(ms int64) doc.Value { return s.word(bsoncore.TypeDateTime, uint64(ms)) }

// decimal128 makes a Decimal128 from its two halves.
func (s *Scope) decimal128(high, low uint64) doc.Value {
	start := len(s.arena)
	s.arena = bsoncore.AppendDecimal128(s.arena, high, low)
	return s.value(bsoncore.TypeDecimal128, start)
}

// objectID makes an ObjectId.
func (s *Scope) objectID(id [12]byte) doc.Value {
	start := len(s.arena)
	s.arena = append(s.arena, id[:]...)
	return s.value(bsoncore.TypeObjectID, start)
}

// string makes a string. It fails if that is larger than MaxResultBytes.
func (s *Scope) string(text string) (doc.Value, error) {
	if err := s.room(len(text) + 5); err != nil {
		return doc.Value{}, err
	}
	start := len(s.arena)
	s.arena = bsoncore.AppendString(s.arena, text)
	return s.value(bsoncore.TypeString, start), nil
}

// room makes room for n more bytes in the arena. It fails if they exceed a limit.
func (s *Scope) room(n int) error {
	if err := fits(n); err != nil {
		return err
	}
	if s.folding && len(s.arena)+n > maxFolded {
		return errFolding
	}
	if len(s.arena)+n > maxArenaBytes {
		return errTooMuchMemory
	}
	if n > cap(s.arena)-len(s.arena) {
		s.arena = slices.Grow(s.arena, n)
		if err := s.hold(); err != nil {
			return err
		}
	}
	return s.spend(work.Copied(n))
}

var errTooMuchMemory = code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
	"An expression used too much memory: more than %d bytes", maxArenaBytes)

// hold reports to the meter how much memory the scope keeps, if that has changed enough.
func (s *Scope) hold() error {
	n := cap(s.arena) + s.built + valueBytes*cap(s.stack)
	more := n - s.held
	if -holdStep < more && more < holdStep {
		return nil
	}
	if more > 0 && cap(s.arena)+s.built > maxHeldBytes {
		return errTooMuchMemory
	}
	err := s.Meter.Kept(int64(more))
	if err == nil {
		s.held = n
	}
	return err
}

// fits returns an error if one value may not have n bytes.
func fits(n int) error {
	if n > MaxResultBytes {
		return code.New(code.BSONObjectTooLarge,
			"BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", n, n, MaxResultBytes)
	}
	return nil
}

// mark returns the end of the arena, for release and keep.
func (s *Scope) mark() int { return len(s.arena) }

// release drops the values made since mark, which may not be used any more. Loops call it after they have copied an
// element's result into a builder.
func (s *Scope) release(mark int) { s.arena = s.arena[:mark] }

// keep drops the values made since mark except v, which moves to mark.
func (s *Scope) keep(mark int, v doc.Value) doc.Value {
	if len(s.arena) == mark {
		return v
	}
	s.arena = append(s.arena[:mark], v.Data...)
	return s.value(v.Type, mark)
}

// spend counts work, in units of package work. Its errors are those of the scope's meter.
func (s *Scope) spend(units int) error { return s.Meter.Spend(units) }

// A builder makes an array or an object, member by member, while other expressions are evaluated. done ends it; do not
// use it afterwards. After an error it can simply be dropped.
type builder struct {
	s   *Scope
	buf []byte
	n   int // members so far
	had int // capacity of buf when the scope was last told
	arr bool
}

// array begins an array.
func (s *Scope) array() *builder { return s.build(true) }

// object begins an object.
func (s *Scope) object() *builder { return s.build(false) }

func (s *Scope) build(arr bool) *builder {
	if s.open == len(s.spare) {
		s.spare = append(s.spare, &builder{s: s})
	}
	b := s.spare[s.open]
	s.open++
	b.buf, b.n, b.arr = append(b.buf[:0], 0, 0, 0, 0), 0, arr
	return b
}

// add appends a copy of an element to an array. A missing one becomes null. It fails if the array becomes too large.
func (b *builder) add(v doc.Value) error {
	if v.Type == 0 {
		v = null
	}
	b.buf = append(b.buf, byte(v.Type))
	b.buf = append(strconv.AppendUint(b.buf, uint64(b.n), 10), 0)
	b.n++
	return b.copy(v)
}

// set appends a member of an object, copying name and value. A missing value is left out. The caller makes sure that no
// name comes twice and that none has a NUL. It fails if the object becomes too large.
func (b *builder) set(name string, v doc.Value) error {
	if v.Type == 0 {
		return nil
	}
	b.buf = append(b.buf, byte(v.Type))
	b.buf = append(append(b.buf, name...), 0)
	b.n++
	return b.copy(v)
}

func (b *builder) copy(v doc.Value) error {
	if b.s.folding && len(b.buf)+len(v.Data) > maxFolded {
		return errFolding
	}
	if len(b.buf)+len(v.Data) >= MaxResultBytes {
		return fits(MaxResultBytes + 1)
	}
	b.buf = append(b.buf, v.Data...)
	if cap(b.buf)-b.had >= holdStep {
		if err := b.counted(); err != nil {
			return err
		}
	}
	return b.s.spend(work.Element + work.Copied(len(v.Data)))
}

// counted reports the builder's capacity to the scope.
func (b *builder) counted() error {
	b.s.built += cap(b.buf) - b.had
	b.had = cap(b.buf)
	return b.s.hold()
}

// len is the number of members so far.
func (b *builder) len() int { return b.n }

// done ends the array or object and moves it to the arena.
func (b *builder) done() (doc.Value, error) {
	s := b.s
	s.open--
	b.buf = append(b.buf, 0)
	binary.LittleEndian.PutUint32(b.buf, uint32(len(b.buf)))
	if err := s.room(len(b.buf)); err != nil {
		return doc.Value{}, err
	}
	start := s.mark()
	s.arena = append(s.arena, b.buf...)
	if cap(b.buf) > keptSpareBytes {
		b.buf = nil
		if err := b.counted(); err != nil {
			return doc.Value{}, err
		}
	}
	if b.arr {
		return s.value(bsoncore.TypeArray, start), nil
	}
	return s.value(bsoncore.TypeEmbeddedDocument, start), nil
}
