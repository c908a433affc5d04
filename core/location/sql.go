package location

import "example.com/loyalty/core/db"

const columns = `id, name, active`

const listSQL = `
	select ` + columns + `
	from loyalty.location
	where tenant_id = @tenant_id
	order by name_key`

// By name, which is unique. A cursor has the location's number, because it has no room for a name.
var pages = db.NewList(`
	select `+columns+`
	from loyalty.location
	where tenant_id = @tenant_id {position}
	{page}`, db.Order{
	After: "and name_key > " + nameAtPosition, Before: "and name_key < " + nameAtPosition,
	Forward: "order by name_key", Backward: "order by name_key desc",
}, nil)

const nameAtPosition = "(select name_key from loyalty.location where tenant_id = @tenant_id and id = @number)"

const insertSQL = `
	insert into loyalty.location (tenant_id, name)
	values (@tenant_id, @name)
	returning ` + columns

const lockSQL = `
	select ` + columns + `
	from loyalty.location
	where tenant_id = @tenant_id
		and id = @id
	for no key update`

const updateSQL = `
	update loyalty.location
	set name = @name,
		active = @active
	where tenant_id = @tenant_id
		and id = @id
	returning ` + columns
