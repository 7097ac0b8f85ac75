package function

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// holding is an array and an object of values that JSON cannot represent.
func holding(values ...doc.Value) (array, object doc.Value) {
	l := list{b: []byte{0, 0, 0, 0}}
	for _, v := range values {
		l.add(v)
	}
	array = (&scratch{}).array(&Call{}, l)
	return array, doc.Value{Type: bsoncore.TypeEmbeddedDocument, Data: array.Data}
}

func TestFinite(t *testing.T) {
	for _, c := range []struct {
		value               string
		finite, nan, itself bool
	}{
		{"0", true, false, true}, {"-1.5", true, false, true}, {"18446744073709551615", true, false, true},
		{`"NaN"`, true, false, true},
		{"null", true, false, true}, {"NaN", false, true, false}, {"Infinity", false, false, true}, {"-Infinity",
			false, false, true},
	} {
		v := argument(t, c.value)
		if got := IsNaN(v); got != c.nan {
			t.Errorf("%s: IsNaN %v", c.value, got)
		}
		array, object := holding(argument(t, "1"), v)
		deep, _ := holding(object)
		for _, v := range []doc.Value{v, array, object, deep} {
			if got := Finite(v); got != c.finite {
				t.Errorf("%v: Finite %v", v, got)
			}
			if got := HasNaN(v); got != c.nan {
				t.Errorf("%v: HasNaN %v", v, got)
			}
			if got := Equal(v, v); got != c.itself {
				t.Errorf("%v: equal to itself %v", v, got)
			}
		}
	}
	if Equal(argument(t, "1"), argument(t, "2")) || !Equal(argument(t, "1"), argument(t, "1.0")) {
		t.Error("1 is equal to 1.0 and not to 2")
	}
	if v := (doc.Value{}); !Finite(v) || HasNaN(v) || IsNaN(v) {
		t.Error("undefined is no number")
	}
}

// Arrays with numbers that are not finite: NaN equals nothing, but is an ordinary value in a set.
func TestArraysBeyondFinite(t *testing.T) {
	of := func(names ...string) doc.Value {
		var values []doc.Value
		for _, name := range names {
			values = append(values, argument(t, name))
		}
		array, _ := holding(values...)
		return array
	}
	for _, c := range []struct {
		name string
		args []doc.Value
		want string
	}{
		{"ARRAY_CONTAINS", []doc.Value{of("NaN"), argument(t, "NaN")}, "false"},
		{"ARRAY_CONTAINS", []doc.Value{of("Infinity"), argument(t, "Infinity")}, "true"},
		{"ARRAY_CONTAINS_ANY", []doc.Value{of("NaN"), argument(t, "NaN"), argument(t, "1")}, "false"},
		{"ARRAY_SUM", []doc.Value{of("Infinity", "1")}, `"Infinity"`},
		{"ARRAY_SUM", []doc.Value{of("Infinity", "-Infinity")}, `"NaN"`},
		{"ARRAY_AVG", []doc.Value{of("-Infinity", "1")}, `"-Infinity"`},
		{"ARRAY_MEDIAN", []doc.Value{of("1", "NaN", "2")}, `"NaN"`},
		{"ARRAY_MEDIAN", []doc.Value{of("1", "Infinity", "2")}, "2"},
		{"ARRAY_MAX", []doc.Value{of("1", "Infinity", "NaN")}, `"Infinity"`},
		{"ARRAY_MIN", []doc.Value{of("1", "NaN", "-Infinity")}, `"NaN"`},
		{"SETUNION", []doc.Value{of("NaN", "1"), of("NaN")}, `["NaN",1]`},
		{"SETEQUAL", []doc.Value{of("NaN"), of("NaN", "NaN")}, "true"},
		{"IS_FINITE_NUMBER", []doc.Value{argument(t, "NaN")}, "false"},
	} {
		f, _ := Lookup(c.name)
		call := &Call{}
		if got := shown(call, f.Run(call, c.args)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
