package db

import "example.com/loyalty/core"

// eachSize is the number of records in memory at a time.
const eachSize = 1_000

// Each passes the records of a list from a position on to fn, one by one, and returns how many. It reads page
// after page: between pages it holds neither a connection nor a snapshot, however slow fn is. The count
// includes the record that fn failed for.
func Each[T any](from core.Cursor, list func(core.Page) (core.List[T], error), fn func(T) error) (count int64, err error) {
	page := core.Page{Size: eachSize, Cursor: &from}
	for page.Cursor != nil {
		l, err := list(page)
		if err != nil {
			return count, err
		}
		for _, record := range l.Items {
			count++
			if err := fn(record); err != nil {
				return count, err
			}
		}
		page.Cursor = l.Next
	}
	return count, nil
}
