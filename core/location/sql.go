package location

const columns = `id, name, active`

const listSQL = `
	select ` + columns + `
	from loyalty.location
	where tenant_id = @tenant_id
	order by name_key`

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
