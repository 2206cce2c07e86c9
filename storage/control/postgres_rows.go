package control

import (
	"fmt"
	"strings"
)

// asArrays returns rows of so many columns as PostgreSQL takes them in one statement, however many they are: an array a
// column. All values of a column are of one type.
func asArrays(columns int, values []any) (rows string, arrays []any) {
	types, names := make([]string, columns), make([]string, columns)
	for i := range columns {
		var array any
		array, types[i] = column(values[i:], columns)
		arrays = append(arrays, array)
		names[i] = fmt.Sprint("column", i+1)
		types[i] = "?::" + types[i] + "[]"
	}
	return "SELECT * FROM unnest(" + strings.Join(types, ", ") + ") AS given (" + strings.Join(names, ", ") + ")", arrays
}

// column returns every nth value as an array, and the type of its elements.
func column(values []any, n int) (array any, of string) {
	switch values[0].(type) {
	case int:
		return every[int](values, n), "bigint"
	case int64:
		return every[int64](values, n), "bigint"
	case float64:
		return every[float64](values, n), "double precision"
	case bool:
		return every[bool](values, n), "boolean"
	case []byte:
		return every[[]byte](values, n), "bytea"
	}
	return every[string](values, n), "text"
}

func every[T any](values []any, n int) (all []T) {
	for i := 0; i < len(values); i += n {
		all = append(all, values[i].(T))
	}
	return all
}
