// Package memsize estimates how much memory values keep, to bound what is gathered.
package memsize

import (
	"reflect"
	"time"
)

const (
	deepest  = 6    // levels of values within values that are looked into
	broadest = 1000 // elements of a list or map that are looked at; the others are taken to be like them
)

// Of returns about how many bytes a value keeps: its own, and those of all texts, lists and structs that it
// leads to.
func Of(v any) int {
	switch v := v.(type) {
	case string:
		return 16 + len(v)
	case []byte:
		return 24 + len(v)
	}
	return of(reflect.ValueOf(v), deepest)
}

func of(v reflect.Value, depth int) int {
	if !v.IsValid() {
		return 8
	}
	own := int(v.Type().Size())
	if depth == 0 || v.Type() == reflect.TypeFor[time.Time]() {
		return own
	}
	switch v.Kind() {
	case reflect.String:
		return own + v.Len()
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return own
		}
		return own + of(v.Elem(), depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			own += of(v.Field(i), depth-1) - int(v.Field(i).Type().Size())
		}
	case reflect.Slice:
		return own + elements(v, depth)
	case reflect.Map:
		return own + entries(v, depth)
	}
	return own
}

func elements(v reflect.Value, depth int) int {
	size := v.Len() * int(v.Type().Elem().Size())
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Map:
	default:
		return size
	}
	beyond, looked := 0, min(v.Len(), broadest)
	for i := range looked {
		beyond += of(v.Index(i), depth-1) - int(v.Type().Elem().Size())
	}
	return size + scaled(beyond, looked, v.Len())
}

func entries(v reflect.Value, depth int) int {
	size, looked := 0, 0
	for it := v.MapRange(); looked < broadest && it.Next(); looked++ {
		size += of(it.Key(), depth-1) + of(it.Value(), depth-1)
	}
	return scaled(size, looked, v.Len())
}

// scaled takes what was found of some for all.
func scaled(found, looked, all int) int {
	if looked == 0 || looked == all {
		return found
	}
	return int(float64(found) / float64(looked) * float64(all))
}
