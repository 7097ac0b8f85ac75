package function

import "github.com/mayflydb/mayfly/internal/doc"

// The mathematical functions on 64-bit integers. Any other argument, and a division by zero, makes the result
// undefined. Overflow wraps around, as the reference says ("similar to the implementation in C++").
var integerFunctions = []Function{
	{Name: "INTADD", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a + b })},
	{Name: "INTBITAND", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a & b })},
	{Name: "INTBITLEFTSHIFT", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a,
		b int64) int64 {
		return a << bitShift(b)
	})},
	{Name: "INTBITNOT", Family: familyMath, Min: 1, Max: 1, Run: bitNot},
	{Name: "INTBITOR", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a | b })},
	{Name: "INTBITRIGHTSHIFT", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a,
		b int64) int64 {
		return a >> bitShift(b)
	})},
	{Name: "INTBITXOR", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a ^ b })},
	{Name: "INTDIV", Family: familyMath, Min: 2, Max: 2, Run: byDivisor(func(a, b int64) int64 { return a / b })},
	{Name: "INTMOD", Family: familyMath, Min: 2, Max: 2, Run: byDivisor(func(a, b int64) int64 { return a % b })},
	{Name: "INTMUL", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a * b })},
	{Name: "INTSUB", Family: familyMath, Min: 2, Max: 2, Run: ofIntegers(func(a, b int64) int64 { return a - b })},
}

func ofIntegers(f func(a, b int64) int64) func(*Call, []doc.Value) doc.Value {
	return func(c *Call, args []doc.Value) doc.Value {
		a, okA := doc.AsInt(args[0])
		b, okB := doc.AsInt(args[1])
		if !okA || !okB {
			return undefined
		}
		return scratchOf(c).int(f(a, b))
	}
}

func byDivisor(f func(a, b int64) int64) func(*Call, []doc.Value) doc.Value {
	run := ofIntegers(f)
	return func(c *Call, args []doc.Value) doc.Value {
		if b, ok := doc.AsInt(args[1]); ok && b == 0 {
			return undefined
		}
		return run(c, args)
	}
}

func bitNot(c *Call, args []doc.Value) doc.Value {
	a, ok := doc.AsInt(args[0])
	if !ok {
		return undefined
	}
	return scratchOf(c).int(^a)
}

// bitShift is a shift count modulo 64, as in processors.
func bitShift(count int64) uint { return uint(count) & 63 }
