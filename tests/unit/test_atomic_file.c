/* Files that appear whole or not at all. */
#define _DEFAULT_SOURCE /* setgroups() */
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/atomic_file.h"
#include "scratch.h"

/* An attacker who makes 'link' point to 'to' just before or after somebody else follows it. */
static struct {
  const char *link, *to;
  bool before;
} meddler;

static void meddle(void)
{
  if (meddler.link == NULL) return;
  assert_int_equal(unlink(meddler.link) | symlink(meddler.to, meddler.link), 0);
  meddler.link = NULL;
}

/* Replaces that of the C library. */
int stat(const char *path, struct stat *st)
{
  if (meddler.before) meddle();
  int result = fstatat(AT_FDCWD, path, st, 0);
  if (!meddler.before) meddle();
  return result;
}

static void put(const struct gpnn_atomic_file *file, const char *text)
{
  assert_int_equal(write(file->fd, text, strlen(text)), strlen(text));
}

static void assert_holds(const char *path, const char *expected)
{
  char *bytes = scratch_read(path, NULL);
  assert_string_equal(bytes, expected);
  free(bytes);
}

static void a_file_appears_at_commit(void **state)
{
  (void)state;
  const char *path = scratch_path("new");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  put(&file, "text");
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_equal(access(file.temporary, F_OK), 0);
  assert_memory_equal(file.temporary, scratch_folder, strlen(scratch_folder));
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_holds(path, "text");
  assert_int_equal(file.fd, -1);
  assert_null(file.target);
  assert_null(file.temporary);
  assert_int_equal(scratch_count(1), 1);
}

static void an_abandoned_file_leaves_the_old_one(void **state)
{
  (void)state;
  const char *path = scratch_text("old", "old");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  put(&file, "new");
  gpnn_atomic_file_abandon(&file);
  gpnn_atomic_file_abandon(&file);
  assert_holds(path, "old");
  assert_int_equal(scratch_count(1), 1);
}

static mode_t mode_of(const char *path)
{
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  return st.st_mode & 0777;
}

static void permissions_are_kept_or_follow_the_umask(void **state)
{
  (void)state;
  const char *path = scratch_text("mode", "old");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_int_equal(chmod(path, 0640), 0);
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(mode_of(path), 0640);
  unlink(path);
  mode_t before = umask(027);
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_int_equal(umask(before), 027);
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(mode_of(path), 0640);
  scratch_count(1);
}

static void a_private_file_is_never_readable_by_others(void **state)
{
  (void)state;
  const char *path = scratch_text("private", "old");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_int_equal(chmod(path, 0644), 0); /* which will hold when the file is there */
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_int_equal(mode_of(file.temporary), 0600);
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(mode_of(path), 0644);
  scratch_count(1);
}

/* For root, who may change the owner of files. */
static void owner_and_group_are_kept(void **state)
{
  (void)state;
  const char *path = scratch_text("owned", "old");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  struct stat st;
  if (chown(path, 12345, 23456) != 0) {
    scratch_count(1);
    skip();
  }
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_uid, 12345);
  assert_int_equal(st.st_gid, 23456);
  scratch_count(1);
}

/* Another group could read the file if it got the rights of the old group. */
static void a_group_that_cannot_be_kept_loses_its_rights(void **state)
{
  (void)state;
  const char *path = scratch_text("group", "old");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  if (chown(path, 12345, 23456) != 0) {
    scratch_count(1);
    skip();
  }
  assert_int_equal(chmod(path, 0664) | chmod(scratch_folder, 0777), 0);
  pid_t child = fork();
  if (child == 0) {
    bool is_other = setgroups(0, NULL) == 0 && setgid(34567) == 0 && setuid(34567) == 0;
    if (!is_other || access(scratch_folder, W_OK) != 0) _exit(2); /* nor may it look in there */
    bool is_done = gpnn_atomic_file_create(&file, path, NULL) == GPNN_OK &&
                   gpnn_atomic_file_commit(&file, NULL) == GPNN_OK;
    _exit(is_done ? 0 : 1);
  }
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  mode_t mode = mode_of(path);
  scratch_count(1);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 2) skip();
  assert_int_equal(how, 0);
  assert_int_equal(mode, 0644);
}

/* As Linux stores it: version 2; tag, rights and id of owner, user 12345, group, mask and others.
 */
static const unsigned char list[] = {
    2, 0,   0,   0,   1,   0,  6, 0, 255, 255, 255, 255, 2,   0,  6, 0, 57, 48,  0,   0,   4,  0, 0,
    0, 255, 255, 255, 255, 16, 0, 6, 0,   255, 255, 255, 255, 32, 0, 0, 0,  255, 255, 255, 255};

/* The group's bits show the mask of the list, not the rights of the group. */
static void an_access_control_list_is_kept(void **state)
{
  (void)state;
  static const char name[] = "system.posix_acl_access";
  const char *path = scratch_text("list", "old");
  unsigned char found[sizeof list + 1];
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  if (setxattr(path, name, list, sizeof list, 0) != 0) {
    scratch_count(1);
    skip(); /* not on this file system */
  }
  assert_int_equal(mode_of(path), 0660);
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(getxattr(path, name, found, sizeof found), sizeof list);
  assert_memory_equal(found, list, sizeof list);
  assert_int_equal(setxattr(scratch_folder, "system.posix_acl_default", list, sizeof list, 0), 0);
  assert_int_equal(removexattr(path, name) | chmod(path, 0640), 0);
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(removexattr(scratch_folder, "system.posix_acl_default"), 0);
  assert_int_equal(getxattr(path, name, found, sizeof found), -1);
  assert_int_equal(mode_of(path), 0640);
  scratch_count(1);
}

static void temporary_names_cannot_be_foreseen(void **state)
{
  (void)state;
  struct gpnn_atomic_file first = GPNN_ATOMIC_FILE_INIT, second = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&first, scratch_path("name"), &err));
  assert_ok(gpnn_atomic_file_create(&second, scratch_path("name"), &err));
  assert_string_not_equal(first.temporary, second.temporary);
  gpnn_atomic_file_abandon(&first);
  gpnn_atomic_file_abandon(&second);
  assert_int_equal(scratch_count(1), 0);
}

static void a_symbolic_link_that_leads_nowhere_is_refused(void **state)
{
  (void)state;
  const char *link = scratch_path("link");
  assert_int_equal(symlink("nowhere", link), 0);
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_fails(gpnn_atomic_file_create(&file, link, &err), GPNN_EIO,
               "link: is a symbolic link that leads nowhere");
  assert_null(file.target);
  struct stat st;
  assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
  assert_int_not_equal(access(scratch_path("nowhere"), F_OK), 0);
  assert_int_equal(scratch_count(1), 1);
}

static void a_symbolic_link_stays_and_its_target_is_replaced(void **state)
{
  (void)state;
  const char *path = scratch_text("real", "old"), *link = scratch_path("link");
  assert_int_equal(symlink("real", link), 0);
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&file, link, &err));
  put(&file, "new");
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  struct stat st;
  assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
  assert_holds(path, "new");
  scratch_count(1);
}

/* Otherwise one file would get the permissions of another. */
static void a_symbolic_link_changed_meanwhile_does_not_mix_two_files(void **state)
{
  (void)state;
  const char *open = scratch_text("open", "old"), *private = scratch_text("private", "old");
  const char *link = scratch_path("link");
  for (int i = 0; i < 2; i++) {
    assert_int_equal(chmod(open, 0666) | chmod(private, 0600) | symlink("open", link), 0);
    struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
    meddler.before = i == 1;
    meddler.to = "private";
    meddler.link = link;
    assert_ok(gpnn_atomic_file_create(&file, link, &err));
    assert_null(meddler.link);
    assert_ok(gpnn_atomic_file_commit(&file, &err));
    assert_int_equal(mode_of(open), 0666);
    assert_int_equal(mode_of(private), 0600);
    assert_int_equal(unlink(link), 0);
  }
  scratch_count(1);
}

static void devices_and_folders_are_refused(void **state)
{
  (void)state;
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_fails(gpnn_atomic_file_create(&file, "/dev/null", &err), GPNN_EIO,
               "/dev/null: is a device or pipe, not a regular file");
  assert_fails(gpnn_atomic_file_create(&file, scratch_folder, &err), GPNN_EIO, "is a directory");
  assert_int_equal(file.fd, -1);
  assert_null(file.temporary);
}

static void a_missing_folder_is_named(void **state)
{
  (void)state;
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_fails(gpnn_atomic_file_create(&file, scratch_path("no/file"), &err), GPNN_EIO,
               "no/file: cannot be created: No such file or directory");
  assert_null(file.temporary);
}

static void files_with_the_longest_names_can_be_written(void **state)
{
  (void)state;
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  const char *path = scratch_path(name);
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(access(path, F_OK), 0);
  scratch_count(1);
}

static void a_name_without_a_folder_is_in_the_current_one(void **state)
{
  (void)state;
  int here = open(".", O_RDONLY | O_DIRECTORY);
  assert_int_equal(chdir(scratch_folder), 0);
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&file, "bare", &err));
  assert_null(strchr(file.temporary, '/'));
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_int_equal(fchdir(here), 0);
  close(here);
  assert_int_equal(access(scratch_path("bare"), F_OK), 0);
  scratch_count(1);
}

static void a_watch_names_the_file_until_it_is_gone(void **state)
{
  (void)state;
  const char *path = scratch_path("watched");
  const char *volatile watch = NULL;
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  file.watch = &watch;
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_string_equal(watch, file.temporary);
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_null(watch);
  file.watch = &watch;
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_int_equal(access(watch, F_OK), 0);
  gpnn_atomic_file_abandon(&file);
  assert_null(watch);
  file.watch = &watch;
  assert_fails(gpnn_atomic_file_create(&file, scratch_path("no/file"), &err), GPNN_EIO,
               "cannot be");
  assert_null(watch);
  assert_int_equal(scratch_count(1), 1);
}

static void a_prepared_file_has_no_name_yet(void **state)
{
  (void)state;
  const char *path = scratch_text("prepared", "old");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  put(&file, "new");
  assert_ok(gpnn_atomic_file_sync(&file, &err));
  put(&file, "er");
  assert_ok(gpnn_atomic_file_prepare(&file, &err));
  assert_int_equal(file.fd, -1);
  assert_holds(path, "old");
  assert_ok(gpnn_atomic_file_commit(&file, &err));
  assert_holds(path, "newer");
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_ok(gpnn_atomic_file_prepare(&file, &err));
  gpnn_atomic_file_abandon(&file);
  assert_holds(path, "newer");
  assert_int_equal(scratch_count(1), 1);
}

static void a_target_that_cannot_be_examined_is_not_replaced(void **state)
{
  (void)state;
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  char path[1024];
  snprintf(path, sizeof path, "%s/below", scratch_text("file", "old"));
  assert_fails(gpnn_atomic_file_create(&file, path, &err), GPNN_EIO, "Not a directory");
  assert_null(file.target);
  assert_int_equal(scratch_count(1), 1);
}

static void a_commit_that_fails_leaves_nothing(void **state)
{
  (void)state;
  const char *path = scratch_path("becomes-a-folder");
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  assert_ok(gpnn_atomic_file_create(&file, path, &err));
  assert_int_equal(mkdir(path, 0700), 0);
  assert_fails(gpnn_atomic_file_commit(&file, &err), GPNN_EIO, "cannot be written: Is a directory");
  assert_null(file.temporary);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(scratch_count(0), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_appears_at_commit),
      cmocka_unit_test(an_abandoned_file_leaves_the_old_one),
      cmocka_unit_test(permissions_are_kept_or_follow_the_umask),
      cmocka_unit_test(a_private_file_is_never_readable_by_others),
      cmocka_unit_test(owner_and_group_are_kept),
      cmocka_unit_test(a_group_that_cannot_be_kept_loses_its_rights),
      cmocka_unit_test(an_access_control_list_is_kept),
      cmocka_unit_test(temporary_names_cannot_be_foreseen),
      cmocka_unit_test(a_symbolic_link_that_leads_nowhere_is_refused),
      cmocka_unit_test(a_symbolic_link_stays_and_its_target_is_replaced),
      cmocka_unit_test(a_symbolic_link_changed_meanwhile_does_not_mix_two_files),
      cmocka_unit_test(devices_and_folders_are_refused),
      cmocka_unit_test(a_missing_folder_is_named),
      cmocka_unit_test(files_with_the_longest_names_can_be_written),
      cmocka_unit_test(a_name_without_a_folder_is_in_the_current_one),
      cmocka_unit_test(a_watch_names_the_file_until_it_is_gone),
      cmocka_unit_test(a_prepared_file_has_no_name_yet),
      cmocka_unit_test(a_target_that_cannot_be_examined_is_not_replaced),
      cmocka_unit_test(a_commit_that_fails_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
