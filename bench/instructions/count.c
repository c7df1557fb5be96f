/* A plugin for qemu-user that counts the instructions a program executes.

   Debian's qemu has no header for plugins; these are the declarations that are
   needed of version 1 of their interface. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t id, struct qemu_plugin_tb *block));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int add, void *to, uint64_t what);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t id, void *data), void *data);

int qemu_plugin_version = 1;

static uint64_t executed;

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &executed, qemu_plugin_tb_n_insns(block));
}

static void report(uint64_t id, void *data)
{
	(void)id, (void)data;
	fprintf(stderr, "instructions %" PRIu64 "\n", executed);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info, (void)argc, (void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}
