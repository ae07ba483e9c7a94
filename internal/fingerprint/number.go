package fingerprint

import (
	"bytes"
	"strconv"
)

// plainDigits is the number of digits of the longest integer that is written without an exponent, as in JavaScript.
const plainDigits = 21

// number appends the number at c.pos in a form that depends on its value only, and reports whether it is valid. The value is exact,
// because it is not converted to a float. An integer of up to 21 digits is copied.
func (c *Canonicalizer) number() bool {
	start, i := c.pos, c.pos
	if c.in[i] == '-' {
		i++
	}
	whole := digits(c.in[i:])
	if whole == 0 || whole > 1 && c.in[i] == '0' {
		return false
	}
	i += whole
	if integer := i == len(c.in) || c.in[i] != '.' && c.in[i]|0x20 != 'e'; integer && whole <= plainDigits {
		c.pos = i
		if whole == 1 && c.in[i-1] == '0' {
			start = i - 1 // -0 is 0
		}
		c.out = append(c.out, c.in[start:i]...)
		return true
	}
	return c.decimal(start, i)
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// decimal is number for a number with a fraction, an exponent or over 21 digits, which begins at start. Its integer part ends at i.
func (c *Canonicalizer) decimal(start, i int) bool {
	negative := c.in[start] == '-'
	if negative {
		start++
	}
	mark := len(c.spare)
	c.spare = append(c.spare, c.in[start:i]...)
	exponent := 0
	if i < len(c.in) && c.in[i] == '.' {
		n := digits(c.in[i+1:])
		if n == 0 {
			return false
		}
		c.spare = append(c.spare, c.in[i+1:i+1+n]...)
		exponent, i = -n, i+1+n
	}
	if i < len(c.in) && c.in[i]|0x20 == 'e' {
		e, n := scanExponent(c.in[i+1:])
		if n == 0 {
			return false
		}
		exponent, i = exponent+e, i+1+n
	}
	c.pos = i
	c.appendDecimal(negative, c.spare[mark:], exponent)
	c.spare = c.spare[:mark]
	return true
}

// scanExponent reads the exponent after an e. A value beyond a billion counts as a billion.
func scanExponent(b []byte) (value, length int) {
	sign := 1
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		if b[0] == '-' {
			sign = -1
		}
		length = 1
	}
	n := digits(b[length:])
	if n == 0 {
		return 0, 0
	}
	for _, d := range b[length : length+n] {
		value = min(value*10+int(d-'0'), 1_000_000_000)
	}
	return sign * value, length + n
}

// appendDecimal writes digits × 10^exponent.
func (c *Canonicalizer) appendDecimal(negative bool, digits []byte, exponent int) {
	digits = bytes.TrimLeft(digits, "0")
	trimmed := bytes.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if len(trimmed) == 0 {
		c.out = append(c.out, '0')
		return
	}
	if negative {
		c.out = append(c.out, '-')
	}
	if exponent < 0 || len(trimmed)+exponent > plainDigits {
		c.out = append(c.out, trimmed...)
		c.out = append(c.out, 'e')
		c.out = strconv.AppendInt(c.out, int64(exponent), 10)
		return
	}
	c.out = append(c.out, trimmed...)
	for range exponent {
		c.out = append(c.out, '0')
	}
}
